import { messages } from '../../messages.js';
import { NetworkFailure } from '../client/client.js';
import type { EnsureFolder } from './ensureFolder.js';
import type { Transport, Upload } from './upload.js';
import type { ShareUploads } from './uploadReceiver.js';

/** Loaded with the first file, so that the page itself loads faster. */
async function loadTransport() {
	try {
		return await import('./transport.js');
	} catch (cause) {
		throw new NetworkFailure(cause, messages.uploadNetworkError);
	}
}

/** Preloads the code that uploads, so that a connection which is lost later can't keep it away. */
export function preloadTransport(): void {
	// The upload loads it again and reports the failure.
	loadTransport().catch(() => undefined);
}

export const uploadFile: Transport = async (upload, listener, signal) =>
	(await loadTransport()).uploadFile(upload, listener, signal);

/** Create one for each run: it asks the server once for each folder. */
export function createFolderEnsurer(): EnsureFolder {
	let ensureFolder: EnsureFolder | undefined;
	return async (...args) => {
		ensureFolder ??= (await loadTransport()).createFolderEnsurer();
		await ensureFolder(...args);
	};
}

/** Removes an unfinished upload that is no longer wanted from the server. */
export async function discardUpload(upload: Upload): Promise<void> {
	// Without its code this page began no upload, and uploads of another page expire on the server.
	const transport = await loadTransport().catch(() => undefined);
	await transport?.discardUpload(upload);
}

/** Uploads to a share. */
export const shareTransport =
	(share: ShareUploads): Transport =>
	async (...args) =>
		(await loadTransport()).uploadToShare(share, ...args);

/** Discards an upload that went to a share, as `discardUpload` does others. */
export async function discardShareUpload(share: ShareUploads, upload: Upload): Promise<void> {
	const transport = await loadTransport().catch(() => undefined);
	await transport?.discardFromShare(share, upload);
}
