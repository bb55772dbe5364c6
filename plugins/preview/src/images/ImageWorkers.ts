import { fileURLToPath } from 'node:url';
import { Failure, type PluginLog } from '@stowage/plugin-api';
import { ImageWorker, WorkerDied, WorkerUnusable } from './ImageWorker.js';

export interface ImageWorkersOptions {
	memoryBytes: number;
	log: PluginLog;
	/** The program of a child; a test may name another. */
	program?: string;
	/** A child is replaced after this many pictures: memory that a decoder leaks, or state that a file has corrupted, is gone with it. */
	maxUses?: number;
	/** How long an idle child is kept. */
	idleMs?: number;
}

/** Starting one costs a fifth of a second; a screen full of photos keeps two busy. */
const maxIdle = 2;

/** The children that decode images. There is one for each concurrent request, and each works on one image at a time. */
export class ImageWorkers {
	readonly #idle: { worker: ImageWorker; timer: NodeJS.Timeout }[] = [];
	readonly #busy = new Set<ImageWorker>();
	#isUnusable = false;
	readonly #options: Required<ImageWorkersOptions>;

	constructor(options: ImageWorkersOptions) {
		const program = fileURLToPath(new URL('./child/imageProgram.js', import.meta.url));
		this.#options = { program, maxUses: 200, idleMs: 60_000, ...options };
	}

	/** False once children have proved not to start, such as where a library has no build for this machine. */
	get isUsable(): boolean {
		return !this.#isUnusable;
	}

	/**
	 * A picture of an image in one of the formats of `imageFormat`. Throws `unsupportedMediaType` for every other content, and for one that takes more than a
	 * child may have.
	 */
	async render(
		image: () => AsyncIterable<Uint8Array>,
		length: number,
		size: number,
		signal: AbortSignal,
	): Promise<Buffer> {
		// A child that died may have been killed for its size by the system, or by hand; if the next one dies too, the image is the cause.
		for (let left = 2; left > 0; left--) {
			try {
				const picture = await this.#try(image, length, size, signal);
				if (picture !== undefined) return picture;
				break;
			} catch (error) {
				signal.throwIfAborted();
				if (error instanceof WorkerUnusable) this.#markUnusable(error);
				if (!(error instanceof WorkerDied)) throw error;
			}
		}
		throw new Failure('unsupportedMediaType', 'The image can not be decoded.');
	}

	async #try(image: () => AsyncIterable<Uint8Array>, length: number, size: number, signal: AbortSignal) {
		signal.throwIfAborted();
		const worker = this.#acquire();
		const end = () => worker.kill();
		signal.addEventListener('abort', end, { once: true });
		this.#busy.add(worker);
		try {
			const picture = await worker.render(image(), length, size);
			this.#release(worker);
			return picture;
		} catch (error) {
			// It may have half of the image, and is of no use for the next one.
			worker.kill();
			throw error;
		} finally {
			this.#busy.delete(worker);
			signal.removeEventListener('abort', end);
		}
	}

	/** Ends all children. */
	close(): void {
		for (const worker of this.#busy) worker.kill();
		for (const { worker, timer } of this.#idle.splice(0)) {
			clearTimeout(timer);
			worker.kill();
		}
	}

	#acquire(): ImageWorker {
		for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
			clearTimeout(kept.timer);
			if (kept.worker.isAlive) return kept.worker;
		}
		return new ImageWorker(this.#options.program, this.#options.memoryBytes);
	}

	#release(worker: ImageWorker): void {
		const { maxUses, idleMs } = this.#options;
		if (worker.uses >= maxUses || this.#idle.length >= maxIdle) {
			worker.kill();
			return;
		}
		const timer = setTimeout(() => {
			const at = this.#idle.findIndex((kept) => kept.worker === worker);
			if (at !== -1) this.#idle.splice(at, 1);
			worker.kill();
		}, idleMs);
		timer.unref();
		this.#idle.push({ worker, timer });
	}

	#markUnusable(error: WorkerUnusable): never {
		if (!this.#isUnusable)
			this.#options.log.error(
				{ reason: error.message },
				'the image decoder could not be loaded: images have no previews',
			);
		this.#isUnusable = true;
		throw new Failure('unavailable', 'There are no previews right now.', { cause: error });
	}
}
