import { Failure, isFailure } from '@stowage/rules';
import { messages } from '../../messages.js';
import { basePath } from '../client/basePath.js';
import type { HashPiece } from './hashInWorker.js';
import { Patience, type Timing } from './RetryPolicy.js';
import type { SendUpload, UploadAnswer, UploadRequest } from './sendUpload.js';
import { isProxyLimit, UploadNetworkFailure, UploadRefusal } from './uploadFailures.js';
import type { UploadRecords } from './uploadRecords.js';
import { newUploadKey, type Transport, type Upload, type UploadedFile, type UploadListener } from './uploads.js';

export interface PieceTools {
	send: SendUpload;
	hash: HashPiece;
	records: UploadRecords;
	timing: Timing;
	/** How large a piece may be; shrinks for the whole session when a proxy takes no larger ones. */
	pieces: { size: number };
}

const uploadsPath = `${basePath}/api/uploads`;
const protocol = { 'tus-resumable': '1.0.0' };
const smallestPiece = 256 * 1024;
/** Pieces of this size are cut off by bad lines rather than by proxies. */
const modestPiece = 1024 * 1024;
/** Times that something may happen to one upload which should not happen twice. */
const patienceWithOddities = 5;
/** A finished upload that is not in its place yet is asked for again. */
const commitMilliseconds = 1000;

/**
 * Carries a file in pieces by the tus protocol. The server checks the digest of each piece, and an upload that was begun
 * before, also by a page that is gone, goes on where the server stands.
 */
export async function carryPieces(tools: PieceTools, ...call: Parameters<Transport>): Promise<UploadedFile> {
	return new PieceUpload(tools, ...call).run();
}

/** Ends what was begun of an upload. What can't be reached now, the server drops by itself later. */
export async function discardPieces({ records, send, timing }: PieceTools, upload: Upload): Promise<void> {
	const id = records.find(upload);
	if (id === undefined) return;
	records.forget(upload);
	const { signal } = new AbortController();
	for (const delay of [500, 2000, 8000, 0]) {
		const answer = await send({ method: 'DELETE', url: urlOf(id), headers: protocol, signal }).catch(() => undefined);
		// 423: the request that was cut off a moment ago is still being ended.
		if (answer?.status !== 423) return;
		await timing.sleep(delay, signal);
	}
}

/** Where the server stands: at an offset, or with the file in its place. */
type Standing = { offset: number } | { name: string };

class PieceUpload {
	readonly #patience: Patience;
	readonly #digests = new Map<number, { size: number; digest: Promise<string> }>();
	#id: string | undefined;
	/** A creation whose answer was lost is not made twice. */
	#key: string;
	#oddities = 0;
	#isSending = false;
	/** Bytes of the piece that was sent last. */
	#sent = 0;
	/** Times that the piece which is due was cut off. */
	#cuts = 0;

	constructor(
		private readonly tools: PieceTools,
		private readonly upload: Upload,
		private readonly listener: UploadListener,
		private readonly signal: AbortSignal,
	) {
		this.#patience = new Patience(listener, signal, tools.timing);
		this.#id = tools.records.find(upload);
		this.#key = upload.key;
	}

	async run(): Promise<UploadedFile> {
		let standing: Standing | undefined;
		for (;;) {
			try {
				standing = await this.#advance(standing);
				if ('name' in standing) {
					this.tools.records.forget(this.upload);
					return { name: standing.name, isVerified: true };
				}
			} catch (error) {
				standing = undefined;
				await this.#recover(error);
			}
		}
	}

	async #advance(standing: Standing | undefined): Promise<Standing> {
		if (this.#id === undefined) return this.#create();
		if (standing === undefined || 'name' in standing) return this.#ask();
		if (standing.offset < this.upload.file.size) return this.#sendPiece(standing.offset);
		// All bytes are there and the file is not: asking makes the server try again.
		await this.tools.timing.sleep(commitMilliseconds, this.signal);
		return this.#ask();
	}

	async #create(): Promise<Standing> {
		const { file, isPublic, username } = this.upload;
		// Without its session a public upload would be taken for a visitor's.
		if (isPublic && username !== undefined) await this.listener.signedIn(this.signal);
		const answer = await this.#send({
			method: 'POST',
			url: uploadsPath,
			headers: {
				'upload-length': String(file.size),
				'upload-metadata': metadataOf(this.upload),
				'stowage-upload-key': this.#key,
			},
		});
		const id = answer.header('location')?.split(/[/?#]/).findLast(Boolean);
		if (answer.status !== 201 || id === undefined) throw new Failure('unavailable', messages.uploadAnswerUnreadable);
		this.#id = id;
		this.tools.records.keep(this.upload, id);
		this.#patience.goesOn();
		return savedNameOf(answer) ?? { offset: 0 };
	}

	async #ask(): Promise<Standing> {
		this.#isSending = false;
		const answer = await this.#send({ method: 'HEAD', url: this.#url(), headers: {} });
		this.#patience.goesOn();
		const standing = savedNameOf(answer) ?? { offset: offsetOf(answer) };
		this.listener.onOffset('name' in standing ? this.upload.file.size : standing.offset);
		return standing;
	}

	async #sendPiece(offset: number): Promise<Standing> {
		const { pieces } = this.tools;
		const end = Math.min(offset + pieces.size, this.upload.file.size);
		const digest = await this.#digest(offset, end);
		// The next one is digested while this one is on its way.
		this.#digests.clear();
		if (end < this.upload.file.size) this.#digest(end, Math.min(end + pieces.size, this.upload.file.size));
		this.#isSending = true;
		this.#sent = end - offset;
		const answer = await this.#send({
			method: 'PATCH',
			url: this.#url(),
			headers: {
				'content-type': 'application/offset+octet-stream',
				'upload-offset': String(offset),
				'upload-checksum': `sha256 ${digest}`,
			},
			body: this.upload.file.slice(offset, end),
			onProgress: (sent) => this.listener.onProgress(Math.min(offset + sent, end)),
		});
		this.#cuts = 0;
		this.#patience.progressed();
		this.listener.onProgress(end);
		return savedNameOf(answer) ?? { offset: offsetOf(answer) };
	}

	#digest(offset: number, end: number): Promise<string> {
		const known = this.#digests.get(offset);
		if (known?.size === end - offset) return known.digest;
		const digest = this.tools.hash(this.upload.file.slice(offset, end));
		// Whoever asks for it hears of the failure; nobody may ask.
		digest.catch(() => undefined);
		this.#digests.set(offset, { size: end - offset, digest });
		return digest;
	}

	/** Returns when another attempt is to be made, and throws when none is. */
	async #recover(error: unknown): Promise<void> {
		this.signal.throwIfAborted();
		// What was digested before may not be what is read now.
		this.#digests.clear();
		if (isProxyLimit(error) && this.#shrink(smallestPiece)) return;
		// A proxy may cut off what is too large for it without an answer.
		if (error instanceof UploadNetworkFailure && this.#isSending && ++this.#cuts % 3 === 0) {
			this.#shrink(modestPiece);
		}
		if (this.#isOdd(error) && ++this.#oddities <= patienceWithOddities) return;
		await this.#patience.wait(error);
	}

	/** Something that is answered by doing it again at once, within reason. */
	#isOdd(error: unknown): boolean {
		if (this.#id !== undefined && error instanceof UploadRefusal && [404, 410].includes(error.httpStatus)) {
			this.tools.records.forget(this.upload);
			this.#id = undefined;
			this.#key = newUploadKey();
			this.listener.onOffset(0);
			return true;
		}
		// The piece was damaged on its way, or another offset is due than was thought.
		return isFailure(error, 'checksumMismatch') || (error instanceof UploadRefusal && error.httpStatus === 409);
	}

	/** Whether there is a smaller size to try. */
	#shrink(smallest: number): boolean {
		const { pieces } = this.tools;
		if (this.#sent <= smallest) return false;
		pieces.size = Math.max(smallest, Math.floor(this.#sent / 2));
		return true;
	}

	#url(): string {
		return urlOf(this.#id ?? '');
	}

	async #send(request: Omit<UploadRequest, 'signal'>): Promise<UploadAnswer> {
		const headers = { ...protocol, ...request.headers };
		const answer = await this.tools.send({ ...request, headers, signal: this.signal });
		if (answer.status < 200 || answer.status >= 300) throw new UploadRefusal(answer);
		return answer;
	}
}

function urlOf(id: string): string {
	return `${uploadsPath}/${id}`;
}

function metadataOf({ file, fileName, directory, isPublic }: Upload): string {
	const fields = {
		filename: fileName,
		directory,
		type: isPublic ? 'public' : 'private',
		lastModified: String(file.lastModified),
	};
	return Object.entries(fields)
		.map(([name, value]) => (value === '' ? name : `${name} ${base64(value)}`))
		.join(',');
}

function base64(text: string): string {
	return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function offsetOf(answer: UploadAnswer): number {
	const offset = Number(answer.header('upload-offset') ?? Number.NaN);
	if (!Number.isSafeInteger(offset)) throw new Failure('unavailable', messages.uploadAnswerUnreadable);
	return offset;
}

/** The name of the file in its place: only with this header it is there. */
function savedNameOf(answer: UploadAnswer): { name: string } | undefined {
	const path = answer.header('stowage-entry-path');
	const name = path?.split('/').at(-1);
	if (name === undefined) return undefined;
	try {
		return { name: decodeURIComponent(name) };
	} catch (cause) {
		throw new Failure('unavailable', messages.uploadAnswerUnreadable, { cause });
	}
}
