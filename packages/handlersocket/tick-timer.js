/**
 * The timeouts of one connection, counted in ticks of one coarse timer instead of read from a
 * clock: requests need no timers, and a process that was stopped or busy for a minute does not
 * count this minute as inactivity of its server. A timeout is late by at most a fraction of the
 * shortest one.
 */

const TICKS_PER_TIMEOUT = 8;
const TICK_MS_MAX = 1000;

/** @typedef {'offline' | 'connect' | 'handshake' | 'ready'} Phase */

/**
 * @typedef {object} TickHooks
 * @property {() => number} pending outstanding requests
 * @property {() => number} inFlight those in flight
 * @property {() => void} onSilence the phase lasted too long, or no bytes arrived with requests in
 *   flight
 * @property {() => void} onOffline requests waited too long for a connection
 * @property {() => void} onIdle no request or reply for keepAliveMs
 */

export class TickTimer {
  /**
   * @param {import('./client-options.js').Limits} limits
   * @param {TickHooks} hooks
   */
  constructor(limits, hooks) {
    const { connectTimeoutMs, handshakeTimeoutMs, requestTimeoutMs } = limits;
    const { keepAliveMs, offlineTimeoutMs } = limits;
    const all = [connectTimeoutMs, handshakeTimeoutMs, requestTimeoutMs];
    const shortest = Math.min(...[...all, keepAliveMs, offlineTimeoutMs].filter((ms) => ms > 0));
    this.tickMs = Math.min(TICK_MS_MAX, Math.max(1, Math.floor(shortest / TICKS_PER_TIMEOUT)));
    this.hooks = hooks;
    /** @param {number} ms */
    const ticks = (ms) => Math.ceil(ms / this.tickMs);
    this.bounds = {
      offline: Number.POSITIVE_INFINITY,
      connect: ticks(connectTimeoutMs),
      handshake: ticks(handshakeTimeoutMs),
      ready: ticks(requestTimeoutMs),
    };
    this.offlineBound = ticks(offlineTimeoutMs);
    this.idleBound = keepAliveMs === 0 ? Number.POSITIVE_INFINITY : ticks(keepAliveMs);
    /** @type {Phase} */
    this.phase = 'offline';
    this.silentTicks = 0;
    this.offlineTicks = 0;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
  }

  /** @param {Phase} phase phase that begins now */
  startPhase(phase) {
    this.phase = phase;
    this.silentTicks = 0;
    if (phase === 'ready') this.offlineTicks = 0;
    this.timer ??= setInterval(() => this.tick(), this.tickMs);
    // While waiting for a secret there is no socket, and the process must not end.
    if (phase === 'connect') this.timer.ref();
    else this.timer.unref();
  }

  /** Bytes arrived from the server, or the first request in flight was sent. */
  onActivity() {
    this.silentTicks = 0;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.offlineTicks = 0;
  }

  tick() {
    const { hooks } = this;
    const pending = hooks.pending();
    this.silentTicks += 1;
    if (this.phase === 'ready') {
      if (hooks.inFlight() > 0) {
        if (this.silentTicks > this.bounds.ready) hooks.onSilence();
      } else if (pending === 0 && this.silentTicks >= this.idleBound) {
        hooks.onIdle();
      }
      return;
    }
    if (pending > 0) this.offlineTicks += 1;
    if (this.silentTicks > this.bounds[this.phase]) hooks.onSilence();
    if (this.phase !== 'handshake' && this.offlineTicks > this.offlineBound) hooks.onOffline();
  }
}
