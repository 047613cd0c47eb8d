// SPDX-License-Identifier: MIT
// page/unpack.js -- reads the whole numbers in the sections that packed_trace.cpp wrote

class NumberReader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /// The next number, exact up to 2^53.
  next() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let number = byte & 127;
    let unit = 128;
    do {
      byte = bytes[this.at++];
      number += (byte & 127) * unit;
      unit *= 128;
    } while (byte >= 128);
    return number;
  }
}

function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const readerOf = (id) => new NumberReader(bytesOf(id));
