/**
 * The process of a contender of any kind: a storage, a server ceiling or another program. Five
 * requests: open, warm, prepare, run, close. A schedule (engine/schedule/) determines their order;
 * the outcome is a segment (engine/segment.js).
 */

/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./opening.js').BenchmarkSpec} BenchmarkSpec */

/**
 * @typedef {object} Task load of a contender
 * @property {string} id id of the load, the same for all contenders
 * @property {import('../lib/result.js').Load} load
 * @property {string} workload
 * @property {Record<string, unknown>} workloadOptions with `parameters` of a variant, `part` of a
 *   row
 * @property {import('./schedule/choose.js').LoadPlan['warm']} warm
 * @property {number} [operations] number of keys to draw; absent: one per operation of the load
 * @property {number} slot number of its variant among those of all contenders
 * @property {readonly string[]} others names of further servers that it uses
 * @property {number} stallNs
 *
 * @typedef {object} ContenderSpec input of a process: names and options, never functions
 * @property {'storage' | 'wire' | 'program'} opener
 * @property {Omit<BenchmarkSpec, 'workload' | 'workloadOptions' | 'load' | 'stallNs'>} storage
 *   options shared by all of its loads
 * @property {(Task | null)[]} tasks null: this contender does not have that load
 * @property {boolean} [isCopy] a second copy of a contender
 * @property {boolean} [isLong] its segments are long; conditions of the machine are read around
 *   each
 * @property {boolean} [perSecond] record a histogram for each second
 * @property {boolean} [live] include figures in progress notifications
 * @property {{ protocol: string, endpoint: import('../lib/types.js').Endpoint }} [wire]
 * @property {import('./drivers/install.js').Driver} [driver] used instead of the installed version
 * @property {import('../lib/node-child.js').Runtime} [runtime] used instead of this Node
 * @property {number[]} [cpus] processors of the process; absent: all
 *
 * @typedef {object} Amount amount of a segment
 * @property {number | null} operations
 * @property {number | null} durationNs
 * @property {boolean} [brief] a segment of milliseconds; latencies are kept until the process
 *   closes
 * @property {boolean} [timed] ends at a given time, see Start
 *
 * @typedef {object} Start times on the system's monotonic clock
 * @property {number} [startNs] start time; absent: immediately
 * @property {number} [fromNs] in a timed segment: count operations completed after this time
 * @property {number} [endNs] in a timed segment: end
 *
 * @typedef {object} WarmRecord
 * @property {number} costNs per operation at the end of the warm-up; 0: unknown
 * @property {boolean} refused the server would refuse every operation, which is not a failure of
 *   the run
 *
 * @typedef {object} CloseRecord
 * @property {(Segment | null)[]} kept by load: records kept until now, and metrics of the end
 * @property {Segment} process figures of the whole process: warm-up, memory, times
 * @property {(import('./garbage.js').LoadGarbage | null)[]} [garbage] by load, for brief segments;
 *   null or absent: they are not charged
 *
 * @typedef {object} Contender
 * @property {(load: number) => Promise<WarmRecord>} warm
 * @property {(load: number, amount: Amount) => Promise<void>} prepare everything that is not timed
 * @property {(load: number, start: Start) => Promise<Segment>} run runs the prepared segment
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
 * @returns {Promise<Contender>} connected, with its rows checked
 * @throws {Error} the storage cannot be opened
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
