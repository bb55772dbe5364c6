import type { StagedFile } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { Log } from '../../log.js';
import type { Checksum } from '../checksum.js';

interface Chunk {
	/** Where it begins in its file. */
	offset: number;
	/** The most bytes that are accepted. */
	limit: number;
	checksum: Checksum | undefined;
	/** Throws if the announced size exceeds a quota. */
	assertRoom(): Promise<void>;
	/** Called whenever bytes arrive. */
	onBytes(): void;
	/** Records that this many bytes of the file are durable. */
	saveOffset(size: number): Promise<unknown>;
	log: Log;
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

/**
 * Appends the body of a request to its file; resolves to the size of that. The bytes of an interrupted chunk are kept,
 * and its offset is recorded at intervals before; a chunk with a checksum is kept whole or not at all.
 */
export async function receiveChunk(staged: StagedFile, body: AsyncIterable<Uint8Array>, chunk: Chunk): Promise<number> {
	const { offset, checksum, log } = chunk;
	const saveArrived = async () => {
		const size = await staged.size();
		if (size > offset) await chunk.saveOffset(size);
	};
	const checkpoints = checksum === undefined ? new Checkpoints(saveArrived) : undefined;
	try {
		await chunk.assertRoom();
		const size = await staged.append(readChunk(body, chunk), offset);
		checksum?.assertMatch();
		await checkpoints?.stop();
		return size;
	} catch (error) {
		await checkpoints?.stop();
		// Bytes of another writer are not verified here.
		if (isFailure(error, 'locked')) throw error;
		const tidy = checksum === undefined ? saveArrived() : staged.append(nothing(), offset);
		await tidy.catch((cause) => log.warn({ err: cause }, 'the bytes of an interrupted upload could not be saved'));
		throw error;
	}
}

/** The body of an upload as a chunk of its file. Fails with `tooLarge` at the first excess byte, and with the errors of the body. */
async function* readChunk(
	body: AsyncIterable<Uint8Array>,
	{ limit, checksum, onBytes }: Pick<Chunk, 'limit' | 'checksum' | 'onBytes'>,
): AsyncGenerator<Uint8Array, void> {
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > limit) throw new Failure('tooLarge', 'More bytes came than the upload was said to have.');
		onBytes();
		checksum?.add(chunk);
		yield chunk;
	}
}

const intervalMs = 5_000;

/** Records the offset of a long body at intervals, so that a crash costs its last seconds only. */
class Checkpoints {
	#running: Promise<void> | undefined;
	readonly #timer: NodeJS.Timeout;

	/**
	 * Errors of `record` are ignored: the final record meets the same fault, the fault is over, or the storage has
	 * dropped the bytes that it could not keep.
	 */
	constructor(record: () => Promise<unknown>) {
		this.#timer = setInterval(() => {
			this.#running ??= record()
				.then(
					() => {},
					() => {},
				)
				.finally(() => {
					this.#running = undefined;
				});
		}, intervalMs);
		this.#timer.unref();
	}

	/** Resolves once no record is under way. */
	async stop(): Promise<void> {
		clearInterval(this.#timer);
		await this.#running;
	}
}
