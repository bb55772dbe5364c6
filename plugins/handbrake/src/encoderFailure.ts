import { Failure, wasDisturbed } from '@stowage/plugin-api';
import { noFreeSpace } from '@stowage/rules';
import { readerOf, unlessUnreadable } from './films/containers/reading/readAt.js';
import type { ProgramOutcome } from './SandboxedProgram.js';

/** Exit codes of HandBrake. It ends by itself, with the first one, when it is interrupted. */
const [interrupted, noFilm] = [1, 2];
const tooLarge = 128 + 25;

/** Whether a line of HandBrake's log has what the film says of itself, such as its title: any words. */
export const isOfFilm = (line: string) => line.startsWith(' ');

/** Why an encoder has ended without a film, in words for people. What is not the film's fault is not called that. */
export async function encoderFailure(outcome: ProgramOutcome, source: number, signal: AbortSignal): Promise<Failure> {
	const known = knownFailure(outcome);
	if (known !== undefined) return known;
	const { code } = outcome;
	const how = code > 128 ? 'The encoder crashed.' : `The encoder gave up (exit code ${code}).`;
	const odd = new Failure('conflict', `${how} The original was kept; the server's log has the details.`);
	return unlessDiskFailed(code === noFilm ? notReadable() : odd, source, signal);
}

/** The failure of what its end, or its log, says by itself; undefined where it may be the film. */
function knownFailure({ code, log, hasPrintedTooMuch = false }: ProgramOutcome): Failure | undefined {
	if (hasPrintedTooMuch) return kept('The encoder printed more than of any film and was ended.');
	const text = log.filter((line) => !isOfFilm(line)).join('\n');
	if (code === tooLarge || /No space left on device|File too large/i.test(text)) return noFreeSpace();
	if (/Input\/output error/i.test(text)) return diskFailed();
	if (/out of memory|malloc of size \d+ failed|Cannot allocate memory/i.test(text)) {
		return kept('There was not enough memory for the encoder.');
	}
	if (code === interrupted || wasDisturbed({ code, signal: null, errors: text })) {
		return kept(
			'The encoder was ended from outside, such as by the system where it had no memory left, which says nothing of the film. Try it again.',
		);
	}
	return undefined;
}

/** The refusal of what is no video. */
export function notReadable(): Failure {
	return new Failure('conflict', 'The file could not be read as a video.');
}

const pieceBytes = 2 ** 20;

/**
 * The failure of a conversion, or another one where the system can't read the film: to the programs that read it the place where a disk
 * fails is the end of a damaged film. Reads all of the open file.
 */
export async function unlessDiskFailed(failure: Failure, source: number, signal: AbortSignal): Promise<Failure> {
	const readAt = readerOf(source);
	const readAll = async (): Promise<true> => {
		for (let at = 0, length = -1; length !== 0; at += length) {
			signal.throwIfAborted();
			({ length } = await readAt(at, pieceBytes));
		}
		return true;
	};
	return (await unlessUnreadable(readAll())) ? failure : diskFailed();
}

function diskFailed(): Failure {
	return kept('The film could not be read from its disk, or the new one not written.');
}

const kept = (reason: string) => new Failure('conflict', `${reason} The original was kept.`);
