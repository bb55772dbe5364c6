import type { StoragePath } from '@stowage/rules';
import { messages } from '../../messages.js';
import { NetworkFailure } from '../client/client.js';
import type { MakeFolder } from './uploadFolders.js';

/** One file on its way to the server. */
export interface Upload {
	file: File;
	/** Whole, with its extension. */
	fileName: string;
	directory: StoragePath;
	isPublic: boolean;
	/** Undefined for a visitor, whose files are always public. What was begun as one is resumed as no other. */
	username: string | undefined;
	/** The same for each try of the same upload: then a try whose answer was lost makes no second file. */
	key: string;
}

/** What an upload waits for until it goes on by itself. */
export type UploadWait = 'connection' | 'server' | 'signIn';

export interface UploadListener {
	/** Bytes of the file that the server has or that were sent so far. */
	onProgress: (uploadedSize: number) => void;
	/** The upload goes on from here; what lies before was not sent just now. */
	onOffset: (uploadedSize: number) => void;
	/** Undefined once it goes on. */
	onWait: (reason: UploadWait | undefined) => void;
	/** Resolves when somebody is signed in, asked afresh. It says by itself that it waits. */
	signedIn: (signal: AbortSignal) => Promise<void>;
}

export interface UploadedFile {
	/** The name that it was given. */
	name: string;
	/** The server has found every digest, of the file or of its pieces, as it was computed here. */
	isVerified: boolean;
}

/**
 * Carries one file over. Lost connections and faults of the server are waited out; what then remains is thrown as a
 * `Failure` with the sentence for people. When the signal is fired it ends with an `AbortError`, and the server keeps
 * what it has for another try.
 */
export type Transport = (upload: Upload, listener: UploadListener, signal: AbortSignal) => Promise<UploadedFile>;

/** Files below this go in one request; several may be on their way at once. */
export const smallFileSize = 1_000_000;

export function isSmall({ size }: File): boolean {
	return size < smallFileSize;
}

/** Loaded with the first file, so that the page shows up before it. */
async function loadCarrier() {
	try {
		return await import('./uploadTransport.js');
	} catch (cause) {
		throw new NetworkFailure(cause, messages.uploadNetworkError);
	}
}

/** Gets the code that uploads, so that a connection which is lost later finds it here. */
export function prepareUploads(): void {
	// The upload asks for it again.
	loadCarrier().catch(() => undefined);
}

export const carryUpload: Transport = async (upload, listener, signal) =>
	(await loadCarrier()).carryUpload(upload, listener, signal);

/** One for each run: what it has made it does not make again. */
export function folderMaker(): MakeFolder {
	let maker: MakeFolder | undefined;
	return async (...place) => {
		maker ??= (await loadCarrier()).folderMaker();
		await maker(...place);
	};
}

/** Frees on the server what was begun of an upload that nobody wants any more. */
export async function discardUpload(upload: Upload): Promise<void> {
	// Without its code this page began nothing, and what another began the server drops by itself.
	const carrier = await loadCarrier().catch(() => undefined);
	await carrier?.discardUpload(upload);
}

export function newUploadKey(): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
