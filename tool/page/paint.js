// SPDX-License-Identifier: MIT
// page/paint.js -- bars and rows. What is narrower than a column of pixels is drawn as the share of the column that it
// covers. So the cost of a frame depends on the size of the screen, and not on the number of records.

const COLOURS = {
  computing: "#f5c518", waiting: "#b4b9c1", serial: "#e08e45", lost: "#8d3b3b", region: "#cfe3f7", part: "#fbe7a1", construct: "#e3e6ea", spin: "#d3d7dc",
  yield: "#bcc2c9", sleep: "#98a1ac", wait: "#c9ced5", decision: "#7b3fb5", mark: "#0f7a5f", arrow: "#c0392b",
  text: "#1f2430", line: "#dde1e6", guide: "#2563eb", counter: "#5b8bd0",
};
const COLUMN = 2;  // pixels; with 1 a frame of 10^6 slices took twice as long, 19 ms, for twice as many rectangles
const LEVELS = 8;  // heights of a column that is covered in part

/// Each name has the same colour in every trace. Names that differ in one digit have very different colours.
function colourOfName(name) {
  let hash = 7;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return `hsl(${hash * 137 % 360} 55% ${76 + hash % 8}%)`;
}

function colourOfLook({name, category, details}) {
  if (category === "node" || category === "user") return colourOfName(name);
  if (category === "stage") return COLOURS[name] ?? COLOURS.wait;
  if (category === "wait") return COLOURS[details.find(([key]) => key === "stage")?.[1]] ?? COLOURS.wait;
  return COLOURS[category] ?? COLOURS.construct;
}

class Painter {
  constructor(model, view, layout) {
    Object.assign(this, {model, view, layout, drawn: 0});
    this.colours = model.looks.map(colourOfLook);
  }

  /// Draws what lies between the heights `top` and `top + height` of the layout.
  paint(context, top, height) {
    this.context = context;
    this.drawn = 0;
    context.font = "11px sans-serif";
    context.textBaseline = "middle";
    for (const track of this.layout.tracks) {
      if (track.bottom < top || track.top > top + height) continue;
      this.bar(track.thread, track.bar - top);
      this.marks(track.thread.marks, track.bar - top);
      if (!track.isOpen) continue;
      track.thread.rows.forEach((row, depth) => this.row(row, track.rows - top + depth * ROW));
    }
    for (const track of this.layout.tracks) this.losses(track, top);
    for (const track of this.layout.counters) this.counter(track.counter, track.top - top);
  }

  fill(x, y, width, height) {
    this.context.fillRect(x, y, width, height);
    ++this.drawn;
  }

  /// Calls wide(i, x, x2) for spans of a column and more, and thin(i, x, x2, level) for runs of columns in which spans
  /// cover `level` of LEVELS.
  walk(spans, wide, thin) {
    const view = this.view;
    const {begin, end, count} = spans;
    const right = view.left + view.width;
    const column = COLUMN * view.perPixel;
    let run = null;
    const finish = () => {
      if (run) thin(run.i, run.x, run.x2, run.level);
      run = null;
    };
    for (let i = spans.firstAfter(view.begin); i < count && begin[i] < view.end;) {
      const x = Math.max(view.x(begin[i]), view.left);
      const x2 = Math.min(view.x(end[i]), right);
      if (end[i] - begin[i] >= column) {
        finish();
        wide(i, x, x2);
        ++i;
        continue;
      }
      const left = Math.floor(x / COLUMN) * COLUMN;
      const from = view.time(left), to = from + column;
      const next = Math.max(spans.firstAfter(to, i), i + 1);
      const covered = (spans.coveredUntil(to, next) - spans.coveredUntil(from, i)) / column;
      const level = Math.min(Math.max(Math.round(LEVELS * covered), 1), LEVELS);
      if (run && run.x2 === left && run.level === level) {
        run.x2 = left + COLUMN;
      } else {
        finish();
        run = {i, x: left, x2: left + COLUMN, level};
      }
      i = next;
    }
    finish();
  }

  /// Computing grows from the bottom, serial time from the top; the rest is waiting. White: the thread was not there.
  bar(thread, y) {
    const {context, view} = this;
    const x = Math.max(view.x(thread.there[0]), view.left);
    const x2 = Math.min(view.x(thread.there[1]), view.left + view.width);
    context.fillStyle = COLOURS.waiting;
    if (x2 > x) this.fill(x, y, x2 - x, BAR);
    context.fillStyle = COLOURS.serial;
    this.walk(thread.serial, (i, x, x2) => this.fill(x, y, x2 - x, BAR),
              (i, x, x2, level) => this.fill(x, y, x2 - x, BAR * level / LEVELS));
    context.fillStyle = COLOURS.computing;
    this.walk(thread.computing, (i, x, x2) => this.fill(x, y, x2 - x, BAR),
              (i, x, x2, level) => this.fill(x, y + BAR - BAR * level / LEVELS, x2 - x, BAR * level / LEVELS));
    context.fillStyle = COLOURS.line;
    this.fill(view.left, y + BAR, view.width, 1);
  }

  /// Where records of the thread are lost.
  losses({thread, bar, rows, isOpen}, top) {
    if (!thread.lost) return;
    const height = rows - bar + (isOpen ? thread.rows.length * ROW : 0);
    const x = Math.max(this.view.x(0), this.view.left);
    const x2 = Math.min(this.view.x(thread.wholeFrom), this.view.left + this.view.width);
    if (x2 <= x) return;
    this.context.fillStyle = "#fff";
    this.fill(x, bar - top, x2 - x, BAR);
    this.hatch(x, x2, bar - top, height);
  }

  hatch(x, x2, y, height) {
    const {context} = this;
    context.save();
    context.beginPath();
    context.rect(x, y, x2 - x, height);
    context.clip();
    context.strokeStyle = COLOURS.lost;
    context.lineWidth = 1;
    context.beginPath();
    for (let at = Math.floor((x - height) / 8) * 8; at < x2; at += 8) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
    ++this.drawn;
  }

  row(row, y) {
    const context = this.context;
    const height = ROW - 2;
    const wide = (i, x, x2) => {
      context.fillStyle = this.colours[row.look[i]];
      this.fill(x, y, Math.max(x2 - x - 0.5, 0.5), height);
      if (x2 - x > 24) this.label(this.textOf(this.model.looks[row.look[i]]), x, x2, y + height / 2);
    };
    const thin = (i, x, x2, level) => {
      context.fillStyle = this.colours[row.look[i]];
      this.fill(x, y + height - height * level / LEVELS, x2 - x, height * level / LEVELS);
    };
    this.walk(row, wide, thin);
  }

  /// Regions are named by their place.
  textOf(look) { return look.category === "region" ? look.label : look.name; }

  /// Draws as much of the text as fits.
  label(text, x, x2, y) {
    const most = Math.floor((x2 - x - 6) / 6);
    if (most < 3) return;
    this.context.fillStyle = COLOURS.text;
    this.context.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, x + 3, y + 0.5);
  }

  /// Small strokes: what the library decided above the bar, the user's marks below it.
  marks(marks, y) {
    const view = this.view;
    const {when, count} = marks;
    for (let i = firstFrom(0, count, (k) => when[k] >= view.begin); i < count && when[i] < view.end;) {
      const x = Math.floor(view.x(when[i]));
      const isUser = this.model.looks[marks.look[i]].category === "user";
      this.context.fillStyle = isUser ? COLOURS.mark : COLOURS.decision;
      this.fill(x, isUser ? y + BAR + 1 : y - MARKS + 1, 2, MARKS - 1);
      const next = view.time(x + 1);
      i = firstFrom(i + 1, count, (k) => when[k] >= next);
    }
  }

  /// Draws steps up or down from 0; of several values in a pixel it draws the last.
  counter({when, amount, lowest, highest}, y) {
    const view = this.view;
    const count = when.length;
    const heightOf = (value) => COUNTER * (highest - value) / (highest - lowest || 1);
    const zero = y + heightOf(0);
    this.context.fillStyle = COLOURS.counter;
    let i = Math.max(firstFrom(0, count, (k) => when[k] > view.begin) - 1, 0);
    while (i < count && when[i] < view.end) {
      const next = firstFrom(i + 1, count, (k) => when[k] >= when[i] + view.perPixel);
      const x = Math.max(view.x(when[i]), view.left);
      const x2 = next < count ? Math.min(view.x(when[next]), view.left + view.width) : view.x(this.model.end);
      const to = y + heightOf(amount[next - 1]);
      this.fill(x, Math.min(zero, to), Math.max(x2 - x, 1), Math.max(Math.abs(to - zero), 1));
      i = next;
    }
  }
}
