import { upload as uploadCall, uploadPublic } from '@stowage/contract';
import { Failure, isFailure } from '@stowage/rules';
import { messages } from '../../messages.js';
import { endpointUrl } from '../client/client.js';
import type { HashBlob } from './hashInWorker.js';
import { RetryPolicy, type Timing } from './RetryPolicy.js';
import { sessionAgeMs, type Transport, type Upload, type UploadedFile } from './upload.js';
import { UnreadableFile, UploadNetworkFailure, UploadRefusal } from './uploadFailures.js';
import type { SendUpload, UploadResponse } from './uploadRequest.js';

export interface FormDependencies {
	send: SendUpload;
	hash: HashBlob;
	timing: Timing;
}

/** How often a file that was damaged in transit is sent again. */
const maxChecksumRetries = 3;

/** Uploads a file and its digest as one form, and retries with the same idempotency key until there is a response. */
export async function uploadForm(
	{ send, hash, timing }: FormDependencies,
	...[upload, listener, signal]: Parameters<Transport>
): Promise<UploadedFile> {
	const { file, username, key } = upload;
	const retryPolicy = new RetryPolicy(listener, signal, timing);
	let checksumErrors = 0;
	for (;;) {
		try {
			// Hashed anew for each attempt, since the file may have changed.
			const digest = await hash(file);
			// The server knows by the cookie whose file it is, and somebody else may be signed in meanwhile.
			if (username !== undefined) await listener.waitForSignIn(signal, sessionAgeMs);
			const response = await send({
				method: 'POST',
				url: endpointUrl(username === undefined ? uploadPublic : uploadCall),
				headers: { 'stowage-upload-key': key, 'stowage-file-digest': `sha-256=:${digest}:` },
				body: formOf(upload),
				// The form's other fields are sent first; the rest of the total is the file.
				onProgress: (sent, total) => listener.onProgress(Math.max(0, Math.min(file.size, sent - (total - file.size)))),
				signal,
			});
			const name = savedName(response);
			retryPolicy.onProgress();
			return { name, isVerified: true };
		} catch (error) {
			if (error instanceof UploadNetworkFailure) await assertReadable(file);
			if (isFailure(error, 'checksumMismatch') && ++checksumErrors <= maxChecksumRetries) continue;
			await retryPolicy.waitToRetry(error);
		}
	}
}

/** A file that has changed breaks the request in the same way as a lost connection. */
async function assertReadable(file: File): Promise<void> {
	try {
		await file.slice(0, 1).arrayBuffer();
	} catch (cause) {
		throw new UnreadableFile(cause);
	}
}

function formOf({ file, fileName, directory, area, username, onConflict }: Upload): FormData {
	const form = new FormData();
	form.set('directory', directory);
	if (area === 'shared') form.set('type', area);
	else if (username !== undefined) form.set('isPublic', String(area === 'public'));
	form.set('fileName', fileName);
	form.set('lastModified', String(file.lastModified));
	if (onConflict !== 'rename') form.set('onConflict', onConflict);
	form.set('file', file, fileName);
	return form;
}

function savedName(response: UploadResponse): string {
	if (response.status < 200 || response.status >= 300) throw new UploadRefusal(response);
	const parsed = uploadCall.result.safeParse(response.body);
	const name = parsed.success ? parsed.data.entries[0]?.name : undefined;
	if (name === undefined) throw new Failure('unavailable', messages.uploadAnswerUnreadable);
	return name;
}
