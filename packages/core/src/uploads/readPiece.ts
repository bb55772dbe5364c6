import type { IncomingMessage } from 'node:http';
import { Failure, isFailure } from '@stowage/rules';
import type { Checksum } from './checksum.js';
import { watchForStall } from './stall.js';

interface PieceRules {
	/** Bytes that may come. */
	most: number;
	checksum: Checksum | undefined;
	/** Called whenever bytes arrive. */
	onBytes(): void;
}

/** The body of a request as it comes. Fails with `tooLarge` at the first byte too many, and with an error when the connection is cut or stalls. */
export async function* readPiece(
	request: IncomingMessage,
	{ most, checksum, onBytes }: PieceRules,
): AsyncGenerator<Uint8Array, void> {
	// Its end may have been announced before anybody listened.
	if (request.destroyed) throw new Failure('invalid', 'The upload was cut off.');
	const stopWatching = watchForStall(request, () => request.destroy(new Failure('timeout', 'The upload stalled.')));
	let size = 0;
	try {
		// Left open when we stop early, so that a refusal still finds its way back.
		for await (const chunk of request.iterator({ destroyOnReturn: false })) {
			size += chunk.length;
			if (size > most) throw new Failure('tooLarge', 'More bytes came than the upload was said to have.');
			onBytes();
			checksum?.add(chunk);
			yield chunk;
		}
	} catch (cause) {
		throw isFailure(cause) ? cause : new Failure('invalid', 'The upload was cut off.', { cause });
	} finally {
		stopWatching();
	}
}
