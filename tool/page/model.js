// SPDX-License-Identifier: MIT
// page/model.js -- the trace as arrays that are sorted by time, with sums. So the cost of drawing depends on what is
// visible, not on the length of the trace

/// The first index in [low, high) for which `holds` is true; `high` if there is none. Requires that false comes before
/// true. Looks near `low` first.
function firstFrom(low, high, holds) {
  let step = 1;
  let last = low;
  while (last < high && !holds(last)) {
    low = last + 1;
    last += step;
    step *= 2;
  }
  if (last < high) high = last;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// Pieces of time that do not overlap.
class Spans {
  constructor(count) {
    this.count = count;
    this.begin = new Float64Array(count);
    this.end = new Float64Array(count);
    this.before = new Float64Array(count + 1);  // the sum of the lengths of those before
  }

  static read(reader, count, each = () => {}) {
    const spans = new Spans(count);
    let time = 0;
    for (let i = 0; i < count; ++i) {
      spans.begin[i] = time += reader.next();
      spans.end[i] = time += reader.next();
      spans.before[i + 1] = spans.before[i] + (spans.end[i] - spans.begin[i]);
      each(i);
    }
    return spans;
  }

  /// The first that ends after `time`.
  firstAfter(time, from = 0) {
    const end = this.end;
    return firstFrom(from, this.count, (i) => end[i] > time);
  }

  /// How much time the spans cover before `time`; `next` is the first span that ends after it.
  coveredUntil(time, next) {
    return this.before[next] + (next < this.count ? Math.max(0, time - this.begin[next]) : 0);
  }

  /// The one at `time`, or -1.
  at(time) {
    const i = this.firstAfter(time);
    return i < this.count && this.begin[i] <= time ? i : -1;
  }
}

/// A name, and the place in the source where there is one: "loop at solver.cpp:31".
function labelOf(name, details) {
  const where = details.find(([key]) => key === "where")?.[1];
  return where ? `${name} at ${where.split(/[/\\]/).pop()}` : name;
}

/// What is drawn, made from the data in the page.
class Model {
  constructor() {
    const description = JSON.parse(document.getElementById("description").textContent);
    Object.assign(this, description);
    this.looks = description.looks.map(([name, category, details]) =>
        ({name, category, details, label: labelOf(name, details), numbers: details.filter(([, value]) => typeof value === "number").length}));
    for (const counter of this.counters) {
      counter.lowest = counter.amount.reduce((least, each) => Math.min(least, each), 0);
      counter.highest = counter.amount.reduce((most, each) => Math.max(most, each), 0);
    }
    this.readSlices();
    this.readActivity();
    this.readMarks();
    this.readArrows();
    this.readRuns();
  }

  readSlices() {
    const reader = readerOf("slices");
    for (const thread of this.threads) thread.rows = [];
    this.slices = 0;
    for (const [thread, depth, count] of this.rows) {
      const look = new Uint32Array(count);
      const row = Spans.read(reader, count, (i) => { look[i] = reader.next(); });
      Object.assign(row, {look, depth, number: this.slices});
      this.threads[thread].rows.push(row);
      this.slices += count;
    }
    this.rows = this.threads.flatMap((thread) => thread.rows);
  }

  readActivity() {
    const reader = readerOf("activity");
    for (const thread of this.threads) {
      thread.computing = Spans.read(reader, thread.computing);
      thread.serial = Spans.read(reader, thread.serial);
    }
  }

  readMarks() {
    const reader = readerOf("marks");
    let number = this.slices;
    for (const thread of this.threads) {
      const count = thread.marks;
      const marks = {count, when: new Float64Array(count), look: new Uint32Array(count), number};
      let time = 0;
      for (let i = 0; i < count; ++i) {
        marks.when[i] = time += reader.next();
        marks.look[i] = reader.next();
      }
      thread.marks = marks;
      number += count;
    }
  }

  readArrows() {
    const reader = readerOf("arrows");
    const count = this.arrows;
    const arrows = {count, left: new Float64Array(count), came: new Float64Array(count), from: new Uint32Array(count),
                    to: new Uint32Array(count), longest: 0};
    let time = 0;
    for (let i = 0; i < count; ++i) {
      arrows.came[i] = time += reader.next();
      const flight = reader.next();
      arrows.left[i] = time - (flight % 2 ? -(flight + 1) / 2 : flight / 2);
      arrows.longest = Math.max(arrows.longest, time - arrows.left[i]);
      arrows.from[i] = reader.next();
      arrows.to[i] = reader.next();
    }
    this.arrows = arrows;
  }

  readRuns() {
    const reader = readerOf("runs");
    let time = 0;
    this.runs = Array.from({length: this.runs}, () => {
      const begin = time += reader.next();
      const length = reader.next();
      const look = reader.next();
      const firstStart = begin + reader.next();
      const skew = reader.next();
      return {begin, end: begin + length, look, firstStart, lastStart: firstStart + skew, skew, members: reader.next(),
              parallel: reader.next(), lost: reader.next()};
    });
  }

  /// The details of a record, as pairs of texts; `number` counts slices and then marks. The first call unpacks the
  /// numbers of all records.
  details(look, number) {
    if (!this.numbersBefore) this.readNumbers();
    let next = this.numbersBefore[number];
    const numberText = (unit) => unit === 1 ? String(this.numbers[next++]) : (this.numbers[next++] * unit).toFixed(3);
    return this.looks[look].details.map(([key, value]) => [key, typeof value === "number" ? numberText(value) : value]);
  }

  readNumbers() {
    const marks = this.threads.reduce((sum, each) => sum + each.marks.count, 0);
    this.numbersBefore = new Uint32Array(this.slices + marks + 1);
    let at = 0;
    for (const records of [...this.rows, ...this.threads.map((thread) => thread.marks)]) {
      for (let i = 0; i < records.count; ++i, ++at) {
        this.numbersBefore[at + 1] = this.numbersBefore[at] + this.looks[records.look[i]].numbers;
      }
    }
    const reader = readerOf("numbers");
    this.numbers = Float64Array.from({length: this.numbersBefore[at]}, () => reader.next());
  }

  /// The innermost slice of the thread at `time`: {row, i}, or null.
  sliceAt(thread, time) {
    for (let depth = thread.rows.length - 1; depth >= 0; --depth) {
      const i = thread.rows[depth].at(time);
      if (i >= 0) return {row: thread.rows[depth], i};
    }
    return null;
  }
}
