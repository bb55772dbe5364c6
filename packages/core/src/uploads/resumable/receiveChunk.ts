import type { StagedFile } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { Log } from '../../log.js';
import type { Checksum } from '../checksum.js';

interface Chunk {
	/** Where it begins in its file. */
	offset: number;
	/** Bytes that may come. */
	most: number;
	checksum: Checksum | undefined;
	/** Throws where what was announced passes a quota. */
	assertRoom(): Promise<void>;
	/** Called whenever bytes arrive. */
	onBytes(): void;
	/** Notes that so many bytes of the file are held. */
	keep(size: number): Promise<unknown>;
	log: Log;
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/**
 * Appends the body of a request to its file; resolves to the size of that. What arrived of a piece that breaks off is kept, and noted now and then before; one with a checksum is kept
 * whole or not at all.
 */
export async function receiveChunk(staged: StagedFile, body: AsyncIterable<Uint8Array>, chunk: Chunk): Promise<number> {
	const { offset, checksum, log } = chunk;
	const keepWhatArrived = async () => {
		const size = await staged.size();
		if (size > offset) await chunk.keep(size);
	};
	const checkpoints = checksum === undefined ? new Checkpoints(keepWhatArrived) : undefined;
	try {
		await chunk.assertRoom();
		const size = await staged.append(readChunk(body, chunk), offset);
		checksum?.assertMatch();
		await checkpoints?.stop();
		return size;
	} catch (error) {
		await checkpoints?.stop();
		// Somebody else's bytes are not ours to judge.
		if (isFailure(error, 'locked')) throw error;
		const tidy = checksum === undefined ? keepWhatArrived() : staged.append(nothing(), offset);
		await tidy.catch((cause) => log.warn({ err: cause }, 'the bytes of an interrupted upload could not be saved'));
		throw error;
	}
}

/** The body of an upload as a piece of its file. Fails with `tooLarge` at the first byte too many, and as the body does. */
async function* readChunk(
	body: AsyncIterable<Uint8Array>,
	{ most, checksum, onBytes }: Pick<Chunk, 'most' | 'checksum' | 'onBytes'>,
): AsyncGenerator<Uint8Array, void> {
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > most) throw new Failure('tooLarge', 'More bytes came than the upload was said to have.');
		onBytes();
		checksum?.add(chunk);
		yield chunk;
	}
}

const everyMs = 5_000;

/** Notes now and then how far a long body has come, so that a crash costs its last seconds only. */
class Checkpoints {
	#running: Promise<void> | undefined;
	readonly #timer: NodeJS.Timeout;

	/** What `note` throws is left to whoever notes the end: it meets the same fault, the fault is over, or the storage has dropped what it could not keep. */
	constructor(note: () => Promise<unknown>) {
		this.#timer = setInterval(() => {
			this.#running ??= note()
				.then(
					() => {},
					() => {},
				)
				.finally(() => {
					this.#running = undefined;
				});
		}, everyMs);
		this.#timer.unref();
	}

	/** Resolves when nothing is noted any more. */
	async stop(): Promise<void> {
		clearInterval(this.#timer);
		await this.#running;
	}
}
