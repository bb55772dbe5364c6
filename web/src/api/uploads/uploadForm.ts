import { upload as uploadCall, uploadPublic } from '@stowage/contract';
import { Failure, isFailure } from '@stowage/rules';
import { messages } from '../../messages.js';
import { endpointUrl } from '../client/client.js';
import type { HashPiece } from './hashInWorker.js';
import { Patience, type Timing } from './RetryPolicy.js';
import type { SendUpload, UploadAnswer } from './sendUpload.js';
import { UnreadableFile, UploadNetworkFailure, UploadRefusal } from './uploadFailures.js';
import type { Transport, Upload, UploadedFile } from './uploads.js';

export interface FormTools {
	send: SendUpload;
	hash: HashPiece;
	timing: Timing;
}

/** Times that a file is sent again because it arrived damaged. */
const patienceWithDamage = 3;

/** One form in one request with the digest of its file, again and again under the same key until there is an answer. */
export async function carryForm(
	{ send, hash, timing }: FormTools,
	...[upload, listener, signal]: Parameters<Transport>
): Promise<UploadedFile> {
	const { file, username, key } = upload;
	const patience = new Patience(listener, signal, timing);
	let damages = 0;
	for (;;) {
		try {
			// Anew for each try: what was digested before may not be what is read now.
			const digest = await hash(file);
			const answer = await send({
				method: 'POST',
				url: endpointUrl(username === undefined ? uploadPublic : uploadCall),
				headers: { 'stowage-upload-key': key, 'stowage-file-digest': `sha-256=:${digest}:` },
				body: formOf(upload),
				// The form's own lines count as sent first; what is left of the total is the file.
				onProgress: (sent, total) => listener.onProgress(Math.max(0, Math.min(file.size, sent - (total - file.size)))),
				signal,
			});
			const name = savedName(answer);
			patience.progressed();
			return { name, isVerified: true };
		} catch (error) {
			if (error instanceof UploadNetworkFailure) await demandReadable(file);
			if (isFailure(error, 'checksumMismatch') && ++damages <= patienceWithDamage) continue;
			await patience.wait(error);
		}
	}
}

/** A file that has changed breaks the request just as a lost connection does. */
async function demandReadable(file: File): Promise<void> {
	try {
		await file.slice(0, 1).arrayBuffer();
	} catch (cause) {
		throw new UnreadableFile(cause);
	}
}

function formOf({ file, fileName, directory, isPublic, username }: Upload): FormData {
	const form = new FormData();
	form.set('directory', directory);
	if (username !== undefined) form.set('isPublic', String(isPublic));
	form.set('fileName', fileName);
	form.set('lastModified', String(file.lastModified));
	form.set('file', file, fileName);
	return form;
}

function savedName(answer: UploadAnswer): string {
	if (answer.status < 200 || answer.status >= 300) throw new UploadRefusal(answer);
	const parsed = uploadCall.result.safeParse(answer.body);
	const name = parsed.success ? parsed.data.entries[0]?.name : undefined;
	if (name === undefined) throw new Failure('unavailable', messages.uploadAnswerUnreadable);
	return name;
}
