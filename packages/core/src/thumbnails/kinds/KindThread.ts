import { Worker } from 'node:worker_threads';
import { Failure, type PreviewKind } from '@stowage/rules';
import type { KindAnswer, KindRequest } from './kindProgram.js';

/** Reading some kilobytes takes less than a millisecond; the rest is for starting the thread on a busy machine. */
const defaultTimeLimitMs = 5000;

const idleMs = 60_000;

export interface KindThreadOptions {
	timeLimitMs?: number;
	/** The program of the thread; a test may name another. */
	program?: URL;
}

/**
 * Finds out the kinds of files by their first bytes, in a thread beside that of the server: contents are made by anybody, and one that takes forever is ended by the time limit and holds
 * up nothing else.
 */
export class KindThread {
	#worker: Worker | undefined;
	#idle: NodeJS.Timeout | undefined;
	/** One after another, or it would be unknown which one takes too long. */
	#last: Promise<unknown> = Promise.resolve();
	readonly #options: Required<KindThreadOptions>;

	constructor(options: KindThreadOptions = {}) {
		const program = new URL('./kindProgram.js', import.meta.url);
		this.#options = { timeLimitMs: defaultTimeLimitMs, program, ...options };
	}

	/** Undefined if it took too long. Throws `unavailable` if there is no thread for it right now. */
	find(named: PreviewKind, firstBytes: Uint8Array): Promise<KindAnswer | undefined> {
		const found = this.#last.then(() => this.#find({ named, firstBytes }));
		this.#last = found.catch(() => {});
		return found;
	}

	#find(request: KindRequest): Promise<KindAnswer | undefined> {
		clearTimeout(this.#idle);
		const worker = this.#start();
		return new Promise<KindAnswer | undefined>((resolve, reject) => {
			const end = (settle: () => void) => {
				clearTimeout(limit);
				worker.off('error', fail).off('exit', fail).off('message', receive);
				settle();
			};
			const fail = (cause: unknown) =>
				end(() => {
					this.#stop();
					reject(new Failure('unavailable', 'There are no previews right now.', { cause, retryAfter: 30 }));
				});
			const limit = setTimeout(() => {
				end(() => {
					this.#stop();
					resolve(undefined);
				});
			}, this.#options.timeLimitMs);
			const receive = (answer: KindAnswer) => {
				end(() => {
					this.#idle = setTimeout(() => this.#stop(), idleMs).unref();
					resolve(answer);
				});
			};
			worker.on('error', fail).on('exit', fail).on('message', receive);
			worker.postMessage(request);
		});
	}

	#start(): Worker {
		// It has no share in the environment, which holds secrets.
		this.#worker ??= new Worker(this.#options.program, { env: {}, resourceLimits: { maxOldGenerationSizeMb: 32 } });
		// It holds up no end of the server.
		this.#worker.unref();
		return this.#worker;
	}

	#stop(): void {
		const worker = this.#worker;
		this.#worker = undefined;
		// An error of its end concerns nobody.
		worker?.on('error', () => {});
		void worker?.terminate();
	}
}
