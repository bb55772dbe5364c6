import type { Area, StoragePath } from '@stowage/rules';

/** One file to upload. */
export interface Upload {
	file: File;
	/** The full name, with its extension. */
	fileName: string;
	directory: StoragePath;
	area: Area;
	/** Undefined for a visitor, whose files are always public. An upload is resumed by the same user only. */
	username: string | undefined;
	/** Who sends it to a share, where that asks for a name. */
	sender?: string;
	/** What the server does where the name is taken. */
	onConflict: 'rename' | 'replace' | 'fail';
	/** The idempotency key: the same for each attempt, so that one whose response was lost makes no second file. */
	key: string;
}

/**
 * The reason why an upload waits before it continues by itself. `space`: a quota or a disk is full; `limit`: there were
 * too many requests; `checking`: what was sent before is compared with the file.
 */
export type UploadWait = 'connection' | 'server' | 'space' | 'limit' | 'signIn' | 'checking';

export interface UploadListener {
	/** Bytes of the file that were sent or that the server already had. */
	onProgress: (uploadedSize: number) => void;
	/** The upload continues at this offset; the bytes before it were not sent just now. */
	onOffset: (uploadedSize: number) => void;
	/** Undefined once the upload continues. */
	onWait: (reason: UploadWait | undefined) => void;
	/**
	 * Checks the session and resolves once the upload's user is signed in, or any user if it has none. Reports the wait
	 * itself, and resolves to whether it had to wait. `maxAgeMs`: how old what is known of the session may be.
	 * @default nothing that is known counts
	 */
	waitForSignIn: (signal: AbortSignal, maxAgeMs?: number) => Promise<boolean>;
}

export interface UploadedFile {
	/** The name under which it was saved. */
	name: string;
	/** The server verified the digest of the file, or of each of its chunks, and all of them are known to be of this file. */
	isVerified: boolean;
}

/**
 * Uploads one file. It waits out lost connections and server errors and throws a `Failure` with a sentence for people when
 * it gives up. When the signal is aborted it throws an `AbortError`, and the server keeps the received bytes for a later attempt.
 */
export type Transport = (upload: Upload, listener: UploadListener, signal: AbortSignal) => Promise<UploadedFile>;

/** For how long a page that creates one file after another assumes that its user is still signed in. */
export const sessionAgeMs = 1000;

/** Files below this size go in one request, several of them in parallel. */
export const smallFileSize = 1_000_000;

export function isSmall({ size }: File): boolean {
	return size < smallFileSize;
}
