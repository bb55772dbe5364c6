import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type PluginLog, syncFolder, writeSynced } from '@stowage/plugin-api';
import { type ConversionStep, conversionStep, type EncodedStep } from './conversion.js';

/** After this long a job has gone on, or is gone. */
const keptMs = 30 * 24 * 60 * 60_000;

/**
 * Says on the disk what was encoded whole, until the database has that: while it is away the server may stop, or be killed, and hours
 * of work must not be repeated. A receipt is found by the staged file of the last checkpoint, so that one of an earlier run is none of
 * a later one's.
 */
export class EncodedReceipts {
	readonly #folder: string;
	readonly #log: PluginLog;

	constructor(folder: string, log: PluginLog) {
		this.#folder = folder;
		this.#log = log;
	}

	/** Durable once it resolves. Without room for it the work goes on, as it would without receipts. */
	async write(encoded: EncodedStep): Promise<void> {
		const at = this.#pathOf(encoded.staged);
		try {
			await mkdir(this.#folder, { recursive: true });
			await writeSynced(`${at}.new`, JSON.stringify(encoded), 'w');
			await rename(`${at}.new`, at);
			await syncFolder(this.#folder);
		} catch (error) {
			this.#log.warn({ err: error }, 'it could not be noted on the disk that a video is encoded');
		}
	}

	/** The step that a checkpoint is followed by. */
	async after(saved: ConversionStep | undefined): Promise<ConversionStep | undefined> {
		if (saved?.step !== 'encoding') return saved;
		try {
			const encoded = conversionStep.parse(JSON.parse(await readFile(this.#pathOf(saved.staged), 'utf8')));
			return encoded.step === 'encoded' && encoded.staged === saved.staged ? encoded : saved;
		} catch (error) {
			// It is encoded again.
			if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
				this.#log.warn({ err: error }, 'a note of an encoded video could not be read');
			return saved;
		}
	}

	async remove(staged: string): Promise<void> {
		await rm(this.#pathOf(staged), { force: true }).catch((error: unknown) => this.#warn(error));
	}

	/** Removes those that nobody needs any more. */
	async sweep(now: number): Promise<void> {
		try {
			for (const name of await readdir(this.#folder)) {
				// Whatever else somebody keeps there is not ours.
				if (!name.endsWith('.json') && !name.endsWith('.json.new')) continue;
				const at = path.join(this.#folder, name);
				if (now - (await stat(at)).mtimeMs > keptMs) await rm(at, { force: true });
			}
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#warn(error);
		}
	}

	#warn(error: unknown): void {
		this.#log.warn({ err: error }, 'a note of an encoded video could not be removed');
	}

	#pathOf(staged: string): string {
		return path.join(this.#folder, `${encodeURIComponent(staged)}.json`);
	}
}
