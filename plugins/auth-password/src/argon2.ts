import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Algorithm, ParsedHashOptions } from '@node-rs/argon2';
import { type AuthProvider, Semaphore } from '@stowage/plugin-api';
import { Failure, passwordLength } from '@stowage/rules';

/** The parameters of one hash. */
export interface Argon2Cost {
	memoryKiB: number;
	iterations: number;
	parallelism: number;
}

/** Each hash takes a thread of four that the whole process shares with its file reads, and all of its memory at once. */
const maxRunning = 2;
const maxWaiting = 64;

const argon2id: Algorithm.Argon2id = 2;

type Native = typeof import('@node-rs/argon2');

let native: Native | undefined;

/** Loaded when it is first used: most commands hash nothing. A program that is built for another machine is an error here. */
export function loadArgon2(): Native {
	native ??= createRequire(import.meta.url)('@node-rs/argon2') as Native;
	return native;
}

/** Passwords kept as argon2id hashes. Hashing never runs on the main thread, and only a few at a time. */
export function argon2Provider(cost: Argon2Cost): AuthProvider {
	const semaphore = new Semaphore(maxRunning, (waiting) => {
		if (waiting >= maxWaiting)
			throw new Failure('unavailable', 'Too many people are signing in right now. Please try again in a moment.', {
				retryAfter: 2,
			});
	});
	const options = {
		algorithm: argon2id,
		memoryCost: cost.memoryKiB,
		timeCost: cost.iterations,
		parallelism: cost.parallelism,
	};
	const protect = (password: string) => semaphore.run(() => loadArgon2().hash(normalized(password), options));
	/** The hash that a password is compared with for an unknown user, so that the comparison takes as long. */
	const nobody = dummySecret(cost);

	return {
		async hash(password) {
			if (isTooLong(password)) {
				throw new Failure('invalid', `A password has at most ${passwordLength.max} characters.`);
			}
			return protect(password);
		},
		async verify(secret, password) {
			// For known and unknown users alike, and before the hash, which costs time in proportion to the text.
			if (isTooLong(password)) return false;
			const isKnown = secret !== undefined && parametersOf(secret) !== undefined;
			const fits = await semaphore.run(() => loadArgon2().verify(isKnown ? secret : nobody, normalized(password)));
			return isKnown && fits;
		},
		needsRehash(secret) {
			const made = parametersOf(secret);
			if (made === undefined) return true;
			return made.memoryCost < cost.memoryKiB || made.timeCost < cost.iterations || made.parallelism < cost.parallelism;
		},
	};
}

/** A secret that no password matches, and that takes as long to compare with as one with these parameters. */
export function dummySecret({ memoryKiB, iterations, parallelism }: Argon2Cost): string {
	const part = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
	return `$argon2id$v=19$m=${memoryKiB},t=${iterations},p=${parallelism}$${part(16)}$${part(32)}`;
}

function isTooLong(password: string): boolean {
	return password.length > passwordLength.max;
}

/** One form for letters that keyboards and systems compose differently, or `é` typed on a Mac would not be `é` from elsewhere. */
function normalized(password: string): string {
	return password.normalize('NFC');
}

/** The parameters of a secret; undefined for a text that no argon2id password can match, such as that of another provider. */
function parametersOf(secret: string): ParsedHashOptions | undefined {
	if (!secret.startsWith('$argon2id$')) return undefined;
	try {
		return loadArgon2().parseOptions(secret);
	} catch {
		// Truncated or made by another program: it matches no password.
		return undefined;
	}
}
