// SPDX-License-Identifier: MIT
// page/view.js -- which part of the time is seen, and where on the screen

class View {
  /// `end` is that of the trace, `onChange` is called after each change.
  constructor(end, onChange) {
    this.whole = Math.max(end, 1);
    this.onChange = onChange;
    this.left = 0;   // in pixels
    this.width = 1;
    this.begin = 0;  // in nanoseconds
    this.length = this.whole;
  }

  get end() { return this.begin + this.length; }
  get perPixel() { return this.length / this.width; }
  x(time) { return this.left + (time - this.begin) / this.perPixel; }
  time(x) { return this.begin + (x - this.left) * this.perPixel; }

  place(left, width) {
    this.left = left;
    this.width = Math.max(width, 1);
    this.onChange();
  }

  show(begin, length) {
    const margin = this.whole * 0.02;
    this.length = Math.min(Math.max(length, 20), this.whole + 2 * margin);
    this.begin = Math.min(Math.max(begin, -margin), this.whole + margin - this.length);
    this.onChange();
  }

  showAll() { this.show(-this.whole * 0.02, this.whole * 1.04); }

  /// Shows a span, with a tenth of its length on each side.
  showSpan(begin, end) {
    const room = Math.max((end - begin) * 0.1, 10);
    this.show(begin - room, end - begin + 2 * room);
  }

  /// Zooms so that the time at x stays there.
  zoom(factor, x) {
    const time = this.time(x);
    const length = Math.min(Math.max(this.length * factor, 20), this.whole * 1.04);
    this.show(time - (time - this.begin) * (length / this.length), length);
  }

  move(pixels) { this.show(this.begin + pixels * this.perPixel, this.length); }
}
