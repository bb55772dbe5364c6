import { upload } from '@stowage/contract';
import { type Area, type Entry, Failure, isFailure, parentPath, parsePath } from '@stowage/rules';
import { asMutation, endpointUrl, failureFrom } from './client/client.js';
import { type FileVersion, HttpFailure, readCurrent } from './previews.js';
import { hashInWorker } from './uploads/hashInWorker.js';
import { sendUpload } from './uploads/sendUpload.js';

/** What a text is to replace: nothing, so that it gets a free name; the file as it was read; or none that is there. */
export type Replaced = { kind: 'nothing' } | { kind: 'version'; etag: string } | { kind: 'missing' };

/**
 * Writes a whole small file beside, or in place of, an entry. Throws `preconditionFailed` if the file has changed
 * since it was read, and every other failure with the server's sentence; then nothing has changed, unless the answer
 * was lost.
 */
export function writeFile(
	area: Area,
	entry: Entry,
	bytes: Uint8Array<ArrayBuffer>,
	replaced: Replaced,
): Promise<Entry> {
	return asMutation(async () => {
		const file = new File([bytes], entry.name);
		const digest = await hashInWorker(file);
		const form = new FormData();
		form.set('directory', parentPath(parsePath(entry.path)));
		form.set('type', area);
		form.set('fileName', entry.name);
		form.set('onConflict', conflicts[replaced.kind]);
		if (replaced.kind === 'version') form.set('ifMatch', replaced.etag);
		form.set('file', file, entry.name);
		const { status, header, body } = await sendUpload({
			method: 'POST',
			url: endpointUrl(upload),
			headers: { 'stowage-file-digest': `sha-256=:${digest}:` },
			body: form,
			signal: new AbortController().signal,
		});
		if (status < 200 || status >= 300) throw failureFrom(status, body, header('retry-after'));
		const [written] = upload.result.parse(body).entries;
		if (!written) throw new Failure('unavailable', 'The answer names no file.');
		return written;
	});
}

const conflicts: Readonly<Record<Replaced['kind'], string>> = {
	nothing: 'rename',
	version: 'replace',
	missing: 'fail',
};

/** The file as it is now; undefined if there is none any more. */
export async function findCurrent(url: string, limit: number): Promise<FileVersion | undefined> {
	try {
		return await readCurrent(url, limit);
	} catch (error) {
		if (!(error instanceof HttpFailure)) throw error;
		if (error.answered === 404) return undefined;
		throw error.explained;
	}
}

/** Whether a file was not replaced since it is not the one that was read. */
export function isChangedMeanwhile(error: unknown): boolean {
	return isFailure(error, 'preconditionFailed') || isFailure(error, 'alreadyExists');
}
