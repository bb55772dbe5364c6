import { upload, uploadPublic } from '@stowage/contract';
import { Failure, type StoragePath } from '@stowage/rules';
import { messages } from '../messages.js';
import { endpointUrl, failureFrom, NetworkFailure } from './client.js';

/** One file on its way to the server. */
export interface Upload {
	file: File;
	/** Whole, with its extension. */
	fileName: string;
	directory: StoragePath;
	isPublic: boolean;
	/** Without an account: then it goes to the public area, whatever `isPublic` says. */
	isVisitor: boolean;
}

/**
 * Carries one file over and answers the name it was given. `onProgress` gets the bytes of the file that were sent so far.
 * Throws `Failure` with the sentence for people, and an `AbortError` once the signal is fired.
 */
export type Transport = (
	upload: Upload,
	onProgress: (uploadedSize: number) => void,
	signal: AbortSignal,
) => Promise<{ name: string }>;

/** One form in one request. XMLHttpRequest, since fetch doesn't tell how much was sent. */
export const formTransport: Transport = (item, onProgress, signal) =>
	new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		const abort = () => request.abort();
		const settle = (action: () => void) => () => {
			signal.removeEventListener('abort', abort);
			action();
		};
		request.open('POST', endpointUrl(item.isVisitor ? uploadPublic : upload));
		request.setRequestHeader('accept', 'application/json');
		request.upload.onprogress = ({ loaded, total }) => {
			// The form's own lines count as sent first; what is left of the total is the file.
			onProgress(Math.max(0, Math.min(item.file.size, loaded - (total - item.file.size))));
		};
		request.upload.onload = () => onProgress(item.file.size);
		request.onload = settle(() => {
			try {
				resolve(readAnswer(request, item.fileName));
			} catch (error) {
				reject(error);
			}
		});
		request.onerror = settle(() => reject(new UploadNetworkFailure()));
		request.ontimeout = request.onerror;
		request.onabort = settle(() => reject(signal.reason ?? new DOMException('Aborted', 'AbortError')));
		if (signal.aborted) {
			reject(signal.reason);
			return;
		}
		signal.addEventListener('abort', abort);
		request.send(formOf(item));
	});

/** The connection broke while the file was on its way. */
export class UploadNetworkFailure extends NetworkFailure {
	override message = messages.uploadNetworkError;
}

function formOf({ file, fileName, directory, isPublic, isVisitor }: Upload): FormData {
	const form = new FormData();
	form.set('directory', directory);
	if (!isVisitor) form.set('isPublic', String(isPublic));
	form.set('fileName', fileName);
	form.set('lastModified', String(file.lastModified));
	form.set('file', file, fileName);
	return form;
}

function readAnswer(request: XMLHttpRequest, fileName: string): { name: string } {
	const { status } = request;
	const body = parseJson(request.responseText);
	if (status >= 200 && status < 300) {
		const answer = upload.result.safeParse(body);
		if (!answer.success) throw new Failure('unavailable', messages.uploadAnswerUnreadable);
		return { name: answer.data.entries[0]?.name ?? fileName };
	}
	const failure = failureFrom(status, body, request.getResponseHeader('retry-after'));
	const isAnswered = status >= 400 && status < 500 && failure.message !== messages.httpError(status);
	throw isAnswered ? failure : new Failure(failure.kind, messages.uploadFailedWithStatus(status), { cause: failure });
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
