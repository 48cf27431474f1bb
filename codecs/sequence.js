/** Encoders that write their requests one after the other. */

/** @typedef {import('./definition.js').Encoder} Encoder */

/**
 * @template T
 * @param {() => readonly T[]} make
 * @param {(request: T, target: Buffer, at: number) => number} write gives the place behind it
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
