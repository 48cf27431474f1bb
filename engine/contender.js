/**
 * What a contender's process does, whatever the contender is: a storage, a server ceiling or
 * another program. Five requests: open, warm, prepare, run, close. A schedule (engine/schedule/)
 * says which comes when; how it ran is a segment (engine/segment.js).
 */

/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./opening.js').BenchmarkSpec} BenchmarkSpec */

/**
 * @typedef {object} Task a load of a contender
 * @property {string} id of the load, the same for all contenders
 * @property {import('../lib/result.js').Load} load
 * @property {string} workload
 * @property {Record<string, unknown>} workloadOptions with `parameters` of a variant, `part` of a
 *   row
 * @property {import('./schedule/choose.js').LoadPlan['warm']} warm
 * @property {number} [operations] keys to draw; absent: as many as the load has operations
 * @property {number} slot number of its variant among those of all contenders
 * @property {readonly string[]} others names of further servers that it needs
 * @property {number} stallNs
 *
 * @typedef {object} ContenderSpec the input of a process: names and options, never functions
 * @property {'storage' | 'wire' | 'program'} opener
 * @property {Omit<BenchmarkSpec, 'workload' | 'workloadOptions' | 'load' | 'stallNs'>} storage
 *   what all of its loads share
 * @property {(Task | null)[]} tasks null: this contender does not have that load
 * @property {boolean} [isCopy] a second copy of a contender
 * @property {boolean} [isLong] its segments are no brief ones: conditions of the machine are read
 *   around each
 * @property {boolean} [perSecond] with a histogram for each second
 * @property {boolean} [live] with figures in its progress
 * @property {{ protocol: string, endpoint: import('../lib/types.js').Endpoint }} [wire]
 * @property {import('./drivers/install.js').Driver} [driver] instead of the installed version
 * @property {import('../lib/node-child.js').Runtime} [runtime] in place of this Node
 * @property {number[]} [cpus] processors of the whole process; absent: all
 *
 * @typedef {object} Amount of a segment
 * @property {number | null} operations
 * @property {number | null} durationNs
 * @property {boolean} [brief] some milliseconds: latencies are kept until the process closes
 * @property {boolean} [timed] it lasts until a given time, see Start
 *
 * @typedef {object} Start on the system's monotonic clock
 * @property {number} [startNs] when to begin; absent: at once
 * @property {number} [fromNs] of a timed segment: operations completed from here on are counted
 * @property {number} [endNs] of a timed segment: until here
 *
 * @typedef {object} WarmRecord
 * @property {number} costNs per operation at the end of the warm-up; 0: not known
 * @property {boolean} refused every operation will be, which is no fault of the run
 *
 * @typedef {object} CloseRecord
 * @property {(Segment | null)[]} kept by load: what was kept until now, and metrics of the end
 * @property {Segment} process facts of the whole process: warm-up, memory, times
 *
 * @typedef {object} Contender
 * @property {(load: number) => Promise<WarmRecord>} warm
 * @property {(load: number, amount: Amount) => Promise<void>} prepare all that is not timed
 * @property {(load: number, start: Start) => Promise<Segment>} run what was prepared
 * @property {() => Promise<CloseRecord>} close
 */

/**
 * @typedef {import('./opening.js').BenchmarkContext & {
 *   onProgress?: (progress: { phase: 'warmup' | 'measure', settled: number,
 *     recorder?: import('../load/recorder.js').Recorder }) => void }} ContenderContext
 */

/**
 * @param {ContenderSpec} spec
 * @param {ContenderContext} context
 * @returns {Promise<Contender>} connected, its rows checked
 * @throws {Error} it does not open
 */
export async function openContender(spec, context) {
  if (spec.opener === 'wire') {
    const { openWireContender } = await import('./wire-contender.js');
    return openWireContender(spec, context);
  }
  if (spec.opener === 'program') {
    const { openProgramContender } = await import('./program-contender.js');
    return openProgramContender(spec, context);
  }
  const { openStorageContender } = await import('./storage-contender.js');
  return openStorageContender(spec, context);
}
