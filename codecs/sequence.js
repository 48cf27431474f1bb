/** Encoders that write their requests in sequence. */

/** @typedef {import('./definition.js').Encoder} Encoder */

/**
 * @template T
 * @param {() => readonly T[]} make
 * @param {(request: T, target: Buffer, at: number) => number} write returns the offset after it
 * @returns {() => Encoder}
 */
export function encoderOf(make, write) {
  return () => {
    const requests = make();
    return (target) => {
      let at = 0;
      for (const request of requests) at = write(request, target, at);
      return at;
    };
  };
}
