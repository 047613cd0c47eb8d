// SPDX-License-Identifier: MIT
// page/layout.js -- where each thread is: a bar with room for marks above and below, and a row for each depth of slices

const LEAST_NAMES = 150, MOST_NAMES = 320;  // pixels for the names
const MARKS = 7, BAR = 20, ROW = 15, GAP = 9, COUNTER = 30;
const UNFOLDED = 6;  // more threads than this are folded at first

class Layout {
  constructor(model, names, onChange) {
    this.tracks = model.threads.map((thread) => ({thread, isOpen: model.threads.length <= UNFOLDED}));
    this.counters = model.counters.map((counter) => ({counter}));
    this.onChange = onChange;
    for (const track of this.tracks) {
      track.name = names.appendChild(document.createElement("button"));
      track.name.className = "thread-name";
      track.name.textContent = track.name.title = track.thread.name;
      track.name.onclick = () => {
        track.isOpen = !track.isOpen;
        this.place();
      };
    }
    for (const track of this.counters) {
      track.name = names.appendChild(document.createElement("div"));
      track.name.className = "thread-name counter";
      track.name.textContent = track.counter.name;
    }
    this.names = names;
    this.namesWidth = this.widthOfNames();
    document.documentElement.style.setProperty("--names", `${this.namesWidth}px`);
    this.place();
  }

  /// The width of the longest name.
  widthOfNames() {
    const cut = [...this.tracks, ...this.counters].map(({name}) => name).filter((name) => name.scrollWidth > name.clientWidth);
    const wanted = cut.map((name) => name.scrollWidth + 2);
    return Math.min(Math.max(LEAST_NAMES, ...wanted), MOST_NAMES);
  }

  place() {
    let y = 4;
    for (const track of this.tracks) {
      track.top = y;
      track.bar = y + MARKS;
      track.rows = track.bar + BAR + MARKS;
      y = track.rows + (track.isOpen ? track.thread.rows.length * ROW : 0) + GAP;
      track.bottom = y;
      track.name.style.top = `${track.bar - 3}px`;
      track.name.setAttribute("aria-expanded", track.isOpen);
    }
    for (const track of this.counters) {
      track.top = y;
      y += COUNTER + GAP;
      track.name.style.top = `${track.top}px`;
    }
    this.height = y;
    this.names.parentNode.style.height = `${y}px`;
    this.onChange();
  }

  trackAt(y) { return this.tracks.find((track) => y >= track.top && y < track.bottom) ?? null; }
}
