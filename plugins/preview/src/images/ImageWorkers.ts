import { fileURLToPath } from 'node:url';
import { Failure, isFailure, type PluginLog, type Sandbox } from '@stowage/plugin-api';
import { beforeDecoding, notNow } from '../runProgram.js';
import {
	ImageWorker,
	WorkerDied,
	WorkerDisturbed,
	WorkerIncomplete,
	WorkerStuck,
	WorkerUnusable,
} from './ImageWorker.js';

export interface ImageWorkersOptions {
	memoryBytes: number;
	log: PluginLog;
	/** The sandbox of the children; undefined for limits only. */
	findSandbox(): Promise<Sandbox | undefined>;
	/** The program of a child; a test may name another. */
	program?: string;
	/** A child is replaced after this many pictures: memory that a decoder leaks, or state that a file has corrupted, is gone with it. */
	maxUses?: number;
	/** How long an idle child is kept. */
	idleMs?: number;
	/** How long the start of a child may take: less than a picture may. */
	startMs?: number;
	/** How long an upgrade may take, during which files of the program are missing, or a lack of memory. */
	upgradeMs?: number;
}

/** An image and whose it is. */
export interface OwnedImage {
	owner: string;
	/** Bytes. */
	length: number;
	read(): AsyncIterable<Uint8Array>;
}

/** Children that could not be used are tried again after this time: a library may be installed, or an upgrade complete. */
const retryMs = 60_000;

/** Starting one costs a fifth of a second; a screen full of photos keeps two busy. */
const maxIdle = 2;

/**
 * The children that decode images. There is one for each concurrent request, and each works on one image at a time, and on those of one
 * owner only: a file that has taken it over sees no other owner's.
 */
export class ImageWorkers {
	readonly #idle: { worker: ImageWorker; timer: NodeJS.Timeout }[] = [];
	readonly #busy = new Set<ImageWorker>();
	#unusableUntil = Number.NEGATIVE_INFINITY;
	#isLogged = false;
	/** When it was first seen that their program could not be loaded. */
	#incompleteSince: number | undefined;
	readonly #options: Required<ImageWorkersOptions>;

	constructor(options: ImageWorkersOptions) {
		const program = fileURLToPath(new URL('./child/imageProgram.js', import.meta.url));
		this.#options = { program, maxUses: 200, idleMs: 60_000, startMs: 10_000, upgradeMs: 60_000, ...options };
	}

	/** Throws `unavailable` for a while once children have proved not to start, such as where a library has no build for this machine. */
	assertUsable(): void {
		const leftMs = this.#unusableUntil - performance.now();
		if (leftMs > 0) throw notNow(undefined, Math.ceil(leftMs / 1000));
	}

	/**
	 * A picture of an image in one of the formats of `imageFormat`. Throws `unsupportedMediaType` for every other content, and for one that
	 * takes more than a child may have, and `unavailable` where children can't be started, are ended from outside or were not ready when the
	 * signal fires.
	 */
	async render(image: OwnedImage, size: number, signal: AbortSignal): Promise<Buffer> {
		this.assertUsable();
		// A child that died or found no picture may have been corrupted by an earlier image, or have no memory left; if a new one does so
		// too, this image is the cause.
		let isDisturbed = false;
		for (const mayBeUsed of [true, false]) {
			try {
				const { picture, isFirst } = await this.#try(image, size, mayBeUsed, signal);
				if (picture !== undefined) return picture;
				isDisturbed = false;
				if (isFirst) break;
			} catch (error) {
				if (signal.aborted) throw isFailure(error, 'unavailable') ? error : signal.reason;
				const isUnusable =
					error instanceof WorkerIncomplete ? this.#isIncompleteForLong() : error instanceof WorkerUnusable;
				if (isUnusable) throw this.#markUnusable(error as Error);
				// Another one would be given up with the picture, as if the image took too long.
				if (error instanceof WorkerStuck) throw notNow(error);
				isDisturbed = error instanceof WorkerDisturbed;
				if (!isDisturbed && !(error instanceof WorkerDied)) throw error;
			}
		}
		if (isDisturbed) throw notNow(undefined);
		throw new Failure('unsupportedMediaType', 'The image can not be decoded.');
	}

	async #try({ owner, length, read }: OwnedImage, size: number, mayBeUsed: boolean, signal: AbortSignal) {
		const sandbox = await beforeDecoding(this.#options.findSandbox(), signal);
		const used = mayBeUsed ? this.#takeUsed(owner) : undefined;
		const worker = used ?? new ImageWorker(owner, { ...this.#options, sandbox });
		const end = () => worker.kill();
		signal.addEventListener('abort', end, { once: true });
		this.#busy.add(worker);
		try {
			const picture = await worker.render(read(), length, size);
			this.#incompleteSince = undefined;
			const isFirst = used === undefined;
			if (picture === undefined && !isFirst) worker.kill();
			else this.#release(worker);
			return { picture, isFirst };
		} catch (error) {
			// It may have half of the image, and is of no use for the next one.
			worker.kill();
			throw signal.aborted && !worker.isReady ? notNow(signal.reason) : error;
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

	/** An idle one that has had images of this owner. */
	#takeUsed(owner: string): ImageWorker | undefined {
		for (const kept of this.#idle.filter(({ worker }) => worker.owner === owner || !worker.isAlive)) {
			this.#take(kept.worker);
			if (kept.worker.isAlive) return kept.worker;
		}
		return undefined;
	}

	/** Takes a worker from the idle ones. */
	#take(worker: ImageWorker): void {
		const at = this.#idle.findIndex((kept) => kept.worker === worker);
		if (at !== -1) clearTimeout(this.#idle.splice(at, 1)[0]?.timer);
	}

	#release(worker: ImageWorker): void {
		const { maxUses, idleMs } = this.#options;
		if (worker.uses >= maxUses) {
			worker.kill();
			return;
		}
		const end = (ended: ImageWorker) => {
			this.#take(ended);
			ended.kill();
		};
		const [oldest] = this.#idle;
		if (oldest !== undefined && this.#idle.length >= maxIdle) end(oldest.worker);
		const timer = setTimeout(() => end(worker), idleMs);
		timer.unref();
		this.#idle.push({ worker, timer });
	}

	/** Whether the program could not be loaded for longer than an upgrade takes. */
	#isIncompleteForLong(): boolean {
		const now = performance.now();
		this.#incompleteSince ??= now;
		return now - this.#incompleteSince >= this.#options.upgradeMs;
	}

	#markUnusable(error: Error): Failure {
		if (!this.#isLogged)
			this.#options.log.error(
				{ reason: error.message },
				'the image decoder could not be loaded: images have no previews',
			);
		this.#isLogged = true;
		this.#unusableUntil = performance.now() + retryMs;
		return notNow(error, retryMs / 1000);
	}
}
