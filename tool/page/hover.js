// SPDX-License-Identifier: MIT
// page/hover.js -- what lies under the pointer, in words

// The recorder's words, and what they are called for readers.
const WORDS = {for: "waits for", of: "members", waited: "waited, us"};

/// The file, and the directory that it is in.
const shortPath = (path) => path.split(/[/\\]/).slice(-2).join("/");

/// {title, details} of a slice.
function sliceInWords(model, row, i) {
  const look = model.looks[row.look[i]];
  const details = [["start", exactText(row.begin[i])], ["duration", exactText(row.end[i] - row.begin[i])]];
  if (look.category === "region") details.push(...regionInWords(model, row, i));
  for (const [key, value] of model.details(row.look[i], row.number + i)) {
    details.push([WORDS[key] ?? key, key === "where" ? shortPath(value) : value]);
  }
  return {title: `${look.label} (${look.category})`, details};
}

function regionInWords(model, row, i) {
  const run = runAt(model, row.begin[i], row.end[i]);
  if (!run) return [];
  const length = run.end - run.begin;
  return [["members", String(run.members)], ["skew", timeText(run.skew)],
          ["parallel", shareText(length ? run.parallel / length : 0)], ["lost waiting", timeText(run.lost)]];
}

function runAt(model, begin, end) {
  const first = firstFrom(0, model.runs.length, (k) => model.runs[k].begin >= begin);
  for (let k = first; k < model.runs.length && model.runs[k].begin === begin; ++k) {
    if (model.runs[k].end === end) return model.runs[k];
  }
  return null;
}

function markInWords(model, marks, i) {
  const look = model.looks[marks.look[i]];
  return {title: `${look.name} (${look.category || "mark"})`,
          details: [["at", exactText(marks.when[i])], ...model.details(marks.look[i], marks.number + i)]};
}

/// The mark at most 3 pixels away, or -1.
function markNear({count, when}, view, x) {
  const i = firstFrom(0, count, (k) => when[k] >= view.time(x - 3));
  return i < count && when[i] <= view.time(x + 3) ? i : -1;
}

/// The value that a counter has at that time.
function counterInWords({name, when, amount}, time) {
  const i = firstFrom(0, when.length, (k) => when[k] > time) - 1;
  if (i < 0) return null;
  return {title: `${name} (counter)`, details: [["value", String(amount[i])], ["since", exactText(when[i])]]};
}

/// What is at a point of the layout: words and the span, or null.
function thingAt(model, view, layout, x, y) {
  if (x < view.left) return null;
  const counted = layout.counters.find(({top}) => y >= top && y < top + COUNTER);
  if (counted) return counterInWords(counted.counter, view.time(x));
  const track = layout.trackAt(y);
  if (!track) return null;
  const {thread} = track;
  if (y < track.bar || (y >= track.bar + BAR && y < track.rows)) {
    const mark = markNear(thread.marks, view, x);
    if (mark >= 0) return markInWords(model, thread.marks, mark);
  }
  const time = view.time(x);
  const inRow = track.isOpen && y >= track.rows ? thread.rows[Math.floor((y - track.rows) / ROW)] : null;
  const at = inRow ? {row: inRow, i: inRow.at(time)} : y < track.rows ? model.sliceAt(thread, time) : null;
  if (!at || at.i < 0) return null;
  return {...sliceInWords(model, at.row, at.i), begin: at.row.begin[at.i], end: at.row.end[at.i]};
}

class Hover {
  constructor(element) {
    this.element = element;
  }

  show(thing, x, y) {
    this.element.hidden = !thing;
    if (!thing) return;
    const title = document.createElement("b");
    title.textContent = thing.title;
    const list = document.createElement("dl");
    for (const [key, value] of thing.details) {
      list.appendChild(document.createElement("dt")).textContent = key;
      list.appendChild(document.createElement("dd")).textContent = value;
    }
    this.element.replaceChildren(title, list);
    const {offsetWidth, offsetHeight} = this.element;
    this.element.style.left = `${Math.max(0, Math.min(x + 14, innerWidth - offsetWidth - 4))}px`;
    this.element.style.top = `${y + 16 + offsetHeight > innerHeight ? Math.max(0, y - offsetHeight - 8) : y + 16}px`;
  }
}
