// SPDX-License-Identifier: MIT
// page/overlay.js -- what lies over the bars: the ruler, arrows, and the skew of regions

const MOST_ARROWS = 120, MOST_LOOKED_AT = 200000, LEAST_SKEW_PIXELS = 6;

function paintRuler(context, view, height) {
  context.font = "11px sans-serif";
  context.textBaseline = "middle";
  const step = rulerStep(view.perPixel * 110);
  for (let time = Math.max(0, Math.ceil(view.begin / step) * step); time <= view.end; time += step) {
    const x = view.x(time);
    context.fillStyle = COLOURS.line;
    context.fillRect(x, 0, 1, height);
    context.fillStyle = COLOURS.text;
    const text = rulerText(time, step);
    const isCut = x + 4 + context.measureText(text).width > view.left + view.width;
    if (!isCut) context.fillText(text, x + 4, height / 2);
  }
}

/// The arrows that end in the view, or cross it; null if there are too many to be told apart.
function arrowsInView({count, came, left, longest}, view) {
  const first = firstFrom(0, count, (i) => came[i] >= view.begin);
  const last = firstFrom(first, count, (i) => came[i] > view.end + longest);
  if (last - first > MOST_LOOKED_AT) return null;
  const found = [];
  for (let i = first; i < last && found.length <= MOST_ARROWS; ++i) {
    if (left[i] <= view.end) found.push(i);
  }
  return found.length > MOST_ARROWS ? null : found;
}

function paintArrow(context, x, y, x2, y2) {
  const angle = Math.atan2(y2 - y, x2 - x);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x2, y2);
  for (const side of [-0.4, 0.4]) {
    context.moveTo(x2, y2);
    context.lineTo(x2 - 7 * Math.cos(angle + side), y2 - 7 * Math.sin(angle + side));
  }
  context.stroke();
}

/// Returns the number of arrows drawn; null if there are too many.
function paintArrows(context, model, view, layout, top) {
  const arrows = model.arrows;
  const found = arrowsInView(arrows, view);
  if (!found) return null;
  context.strokeStyle = COLOURS.arrow;
  context.lineWidth = 1;
  for (const i of found) {
    const from = layout.tracks[arrows.from[i]].bar - top + BAR / 2;
    const to = layout.tracks[arrows.to[i]].bar - top + BAR / 2;
    paintArrow(context, view.x(arrows.left[i]), from, view.x(arrows.came[i]), to);
  }
  return found.length;
}

/// Dashed lines from the first member's start to the last one's, and the time between them.
function paintSkew(context, run, view, height) {
  const x = view.x(run.firstStart), x2 = view.x(run.lastStart);
  if (x2 - x < LEAST_SKEW_PIXELS) return;
  context.strokeStyle = COLOURS.guide;
  context.setLineDash([4, 3]);
  for (const at of [x, x2]) {
    context.beginPath();
    context.moveTo(Math.floor(at) + 0.5, 0);  // of one column of pixels
    context.lineTo(Math.floor(at) + 0.5, height);
    context.stroke();
  }
  context.setLineDash([]);
  context.fillStyle = COLOURS.guide;
  context.font = "11px sans-serif";
  const text = `skew ${timeText(run.skew)}`;
  const length = context.measureText(text).width;
  const isCut = x2 + 4 + length > view.left + view.width;
  context.fillText(text, isCut ? x - 4 - length : x2 + 4, height - 8);
}
