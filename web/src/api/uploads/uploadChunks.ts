import { Failure, isFailure } from '@stowage/rules';
import { messages } from '../../messages.js';
import { newIdempotencyKey } from '../client/idempotency.js';
import type { HashBlob } from './hashInWorker.js';
import { RetryPolicy, type Timing } from './RetryPolicy.js';
import { nothingSent, type Piece, readPieces, type SentPieces, sizeOf, sizesBefore, withPiece } from './sentPieces.js';
import { sessionAgeMs, type Transport, type Upload, type UploadedFile, type UploadListener } from './upload.js';
import { isProxyLimit, UploadNetworkFailure, UploadRefusal } from './uploadFailures.js';
import type { UploadReceiver } from './uploadReceiver.js';
import type { UploadRecords } from './uploadRecords.js';
import type { SendUpload, UploadRequest, UploadResponse } from './uploadRequest.js';

export interface UploadDependencies {
	receiver: UploadReceiver;
	send: SendUpload;
	hash: HashBlob;
	records: UploadRecords;
	timing: Timing;
	/** The chunk size of all uploads; reduced for the whole session when a proxy accepts no larger requests. */
	chunks: { size: number };
}

const protocolHeaders = { 'tus-resumable': '1.0.0' };
const chunkHeaders = { 'content-type': 'application/offset+octet-stream' };
const minChunkSize = 256 * 1024;
/** Requests of this size are interrupted by bad connections rather than by proxies, so interruptions shrink chunks no further. */
const minChunkSizeAfterInterruptions = 1024 * 1024;
/** How often a chunk is retried at once after errors that an immediate retry mends. */
const maxRetryableErrors = 5;
/** How often one upload begins anew, where the server says that it has it no more. */
const maxRestarts = 5;
/** All bytes are there but the file is not published yet: the server is polled again after this. */
const publishRetryMs = 1000;

/**
 * Uploads a file in chunks by the tus protocol. The server verifies the digest of each chunk. An upload that was begun
 * earlier, also by a page that was closed, is resumed at the server's offset, unless the file begins with other bytes
 * than those that were sent: then another upload begins.
 */
export async function uploadChunks(
	dependencies: UploadDependencies,
	...args: Parameters<Transport>
): Promise<UploadedFile> {
	return new ChunkedUpload(dependencies, ...args).run();
}

/** Terminates an unfinished upload. If the server can't be reached, the upload expires there. */
export async function terminateUpload(dependencies: UploadDependencies, upload: Upload): Promise<void> {
	const known = dependencies.records.find(upload);
	if (known === undefined) return;
	dependencies.records.remove(upload);
	await terminate(dependencies, known.id);
}

async function terminate({ receiver, send, timing }: UploadDependencies, id: string): Promise<void> {
	const { signal } = new AbortController();
	for (const delay of [500, 2000, 8000, 0]) {
		const request = { method: 'DELETE', url: `${receiver.url}/${id}`, headers: protocolHeaders, signal } as const;
		// Unreachable all the time, it expires there.
		const response = await send(request).catch(() => undefined);
		// 423: the server is still closing the request that was aborted a moment ago. 429 and from 500 on: it, or a proxy, is overloaded.
		if (response !== undefined && response.status < 500 && ![423, 429].includes(response.status)) return;
		await timing.sleep(delay, signal);
	}
}

/** The state on the server: bytes up to an offset, or the published file. */
type ServerState = { offset: number } | { name: string };

class ChunkedUpload {
	readonly #retryPolicy: RetryPolicy;
	readonly #digests = new Map<number, { size: number; digest: Promise<string> }>();
	#id: string | undefined;
	/** What the server has of the file, and the piece that was sent after it; undefined where that is not known. */
	#sent: SentPieces | undefined;
	#pending: Piece | undefined;
	/** Whether it was sent from this file. Another one of the same name, size and time may have other bytes. */
	#isOfFile: boolean;
	/** The idempotency key: a creation whose response was lost is not repeated. */
	#key: string;
	#retryableErrors = 0;
	#restarts = 0;
	#isSending = false;
	#lastChunkSize = 0;
	/** How often the current chunk was interrupted. */
	#interruptions = 0;

	constructor(
		private readonly dependencies: UploadDependencies,
		private readonly upload: Upload,
		private readonly listener: UploadListener,
		private readonly signal: AbortSignal,
	) {
		this.#retryPolicy = new RetryPolicy(listener, signal, dependencies.timing);
		const known = dependencies.records.find(upload);
		this.#id = known?.id;
		this.#sent = known?.sent;
		this.#pending = known?.pending;
		this.#isOfFile = known?.isOfFile === true;
		this.#key = upload.key;
	}

	async run(): Promise<UploadedFile> {
		let state: ServerState | undefined;
		for (;;) {
			try {
				state = await this.#nextStep(state);
				if ('name' in state) {
					const { records, receiver } = this.dependencies;
					const isVerified = this.#sent !== undefined && sizeOf(this.#sent) === this.upload.file.size;
					records.remove(this.upload);
					receiver.onPublished(this.#id ?? '', this.upload, state.name);
					return { name: state.name, isVerified };
				}
			} catch (error) {
				state = undefined;
				await this.#recover(error);
			}
		}
	}

	async #nextStep(state: ServerState | undefined): Promise<ServerState> {
		if (this.#id === undefined) return this.#create();
		if (state === undefined || 'name' in state) return this.#fetchState();
		if (state.offset < this.upload.file.size) return this.#sendChunk(state.offset);
		// All bytes are there but the file is not published: a HEAD makes the server try again.
		await this.dependencies.timing.sleep(publishRetryMs, this.signal);
		return this.#fetchState();
	}

	async #create(): Promise<ServerState> {
		const { file, username } = this.upload;
		// The server knows by the cookie whose file it is: somebody else's who is signed in meanwhile, or in public a visitor's.
		if (username !== undefined) await this.listener.waitForSignIn(this.signal, sessionAgeMs);
		const response = await this.#send({
			method: 'POST',
			url: this.dependencies.receiver.url,
			headers: {
				'upload-length': String(file.size),
				'upload-metadata': this.#metadata(),
				'stowage-upload-key': this.#key,
			},
		});
		const id = response.header('location')?.split(/[/?#]/).findLast(Boolean);
		if (response.status !== 201 || id === undefined) throw new Failure('unavailable', messages.uploadAnswerUnreadable);
		this.#id = id;
		this.#sent = nothingSent;
		this.#pending = undefined;
		this.#isOfFile = true;
		this.#save();
		this.#retryPolicy.onResponse();
		return savedNameOf(response) ?? { offset: 0 };
	}

	async #fetchState(): Promise<ServerState> {
		this.#isSending = false;
		const response = await this.#send({ method: 'HEAD', url: this.#url(), headers: {} }).catch((error: unknown) =>
			this.#askWhy(error),
		);
		this.#retryPolicy.onResponse();
		const state = savedNameOf(response) ?? { offset: offsetOf(response) };
		const size = 'name' in state ? this.upload.file.size : state.offset;
		if (!(await this.#beginsWith(size))) {
			// A file that is in its place already stays there.
			if ('offset' in state) void terminate(this.dependencies, this.#id ?? '');
			this.dependencies.records.remove(this.upload);
			this.#beginAnew();
			return this.#create();
		}
		this.listener.onOffset(size);
		return state;
	}

	/** A complete file that can't be published is refused by an answer to HEAD, which has no sentence. One to PATCH has. */
	async #askWhy(error: unknown): Promise<UploadResponse> {
		if (!isRefusedWith(error, 403, 409, 412, 413)) throw error;
		const headers = { ...chunkHeaders, 'upload-offset': String(this.upload.file.size) };
		return this.#send({ method: 'PATCH', url: this.#url(), headers, body: new Blob() });
	}

	/** Whether the file begins with what the server has, this many bytes, as far as it is known what they are. */
	async #beginsWith(size: number): Promise<boolean> {
		if (size === 0) {
			this.#sent = nothingSent;
			this.#isOfFile = true;
		}
		let sent = this.#sent;
		const pending = this.#pending;
		if (sent === undefined) return true;
		const { hash } = this.dependencies;
		if (pending !== undefined && size === sizeOf(sent) + pending.size) sent = await withPiece(sent, pending, hash);
		if (!this.#isOfFile && (await this.#read(sent.sizes)).digest !== sent.digest) return false;
		this.#isOfFile = true;
		this.#pending = undefined;
		if (size < sizeOf(sent)) this.#sent = await this.#read(sizesBefore(sent.sizes, size));
		// The rest was sent by another page.
		else this.#sent = size === sizeOf(sent) ? sent : undefined;
		return true;
	}

	/** Reads what was sent from the file. */
	async #read(sizes: SentPieces['sizes']): Promise<SentPieces> {
		const { dependencies, listener, signal } = this;
		listener.onWait('checking');
		const onRead = (size: number) => listener.onOffset(size);
		const read = await readPieces(this.upload.file, sizes, { hash: dependencies.hash, signal, onRead });
		listener.onWait(undefined);
		return read;
	}

	#save(): void {
		if (this.#id === undefined) return;
		this.dependencies.records.save(this.upload, { id: this.#id, sent: this.#sent, pending: this.#pending });
	}

	#beginAnew(): void {
		this.#id = undefined;
		this.#key = newIdempotencyKey();
		this.listener.onOffset(0);
	}

	async #sendChunk(offset: number): Promise<ServerState> {
		const { chunks } = this.dependencies;
		const end = Math.min(offset + chunks.size, this.upload.file.size);
		const piece = { size: end - offset, digest: await this.#digest(offset, end) };
		// The next chunk is hashed while this one is sent.
		this.#digests.clear();
		if (end < this.upload.file.size) this.#digest(end, Math.min(end + chunks.size, this.upload.file.size));
		if (this.#sent !== undefined && sizeOf(this.#sent) !== offset) this.#sent = undefined;
		const sent = this.#sent && withPiece(this.#sent, piece, this.dependencies.hash);
		sent?.catch(() => undefined);
		// Before it is sent, so that it is known what the server has if there is no answer any more.
		this.#pending = piece;
		this.#save();
		this.#isSending = true;
		this.#lastChunkSize = piece.size;
		const response = await this.#send({
			method: 'PATCH',
			url: this.#url(),
			headers: {
				...chunkHeaders,
				'upload-offset': String(offset),
				'upload-checksum': `sha256 ${piece.digest}`,
			},
			body: this.upload.file.slice(offset, end),
			onProgress: (sent) => this.listener.onProgress(Math.min(offset + sent, end)),
		});
		this.#sent = await sent;
		this.#pending = undefined;
		this.#interruptions = 0;
		this.#retryableErrors = 0;
		this.#retryPolicy.onProgress();
		this.listener.onProgress(end);
		return savedNameOf(response) ?? { offset: offsetOf(response) };
	}

	#digest(offset: number, end: number): Promise<string> {
		const cached = this.#digests.get(offset);
		if (cached?.size === end - offset) return cached.digest;
		const digest = this.dependencies.hash(this.upload.file.slice(offset, end));
		// It rejects for its caller; without this an unused digest would be an unhandled rejection.
		digest.catch(() => undefined);
		this.#digests.set(offset, { size: end - offset, digest });
		return digest;
	}

	/** Returns when the next attempt is due; throws if there is to be none. */
	async #recover(error: unknown): Promise<void> {
		this.signal.throwIfAborted();
		// The file may have changed since it was hashed.
		this.#digests.clear();
		if (isProxyLimit(error) && this.#isSending && this.#reduceChunkSize(minChunkSize)) return;
		// A proxy may interrupt a request that is too large for it without a response.
		if (error instanceof UploadNetworkFailure && this.#isSending && ++this.#interruptions % 3 === 0) {
			this.#reduceChunkSize(minChunkSizeAfterInterruptions);
		}
		// It may be another user who has no such upload. Then it is there yet once its own one is signed in.
		if (this.#isGone(error) && this.upload.username !== undefined && (await this.#retryPolicy.waitForUser())) return;
		if (this.#beginsAnew(error) && ++this.#restarts <= maxRestarts) return;
		if (isRetryable(error) && ++this.#retryableErrors <= maxRetryableErrors) return;
		await this.#retryPolicy.waitToRetry(error);
	}

	/** Whether the server says that it has no such upload, or none any more. */
	#isGone(error: unknown): boolean {
		return this.#id !== undefined && isRefusedWith(error, 404, 410);
	}

	/** Whether the server says that what was begun is nothing to go on with: then another upload begins. */
	#beginsAnew(error: unknown): boolean {
		if (this.#isGone(error)) {
			// The record stays until there is another upload: all that this may have ended is the share to which it goes.
			this.#beginAnew();
			return true;
		}
		// What was begun with this key is done, and its file gone since, or it was another upload. Once: it may also be that the share has
		// ended.
		if (this.#id !== undefined || this.#key !== this.upload.key || !isRefusedWith(error, 409, 410)) return false;
		// The name is taken, which another key does not change.
		if (isFailure(error, 'alreadyExists')) return false;
		this.#key = newIdempotencyKey();
		return true;
	}

	/** Reduces the chunk size; false if it is at its minimum already. */
	#reduceChunkSize(minimum: number): boolean {
		const { chunks } = this.dependencies;
		if (this.#lastChunkSize <= minimum) return false;
		chunks.size = Math.max(minimum, Math.floor(this.#lastChunkSize / 2));
		return true;
	}

	#url(): string {
		return `${this.dependencies.receiver.url}/${this.#id ?? ''}`;
	}

	#metadata(): string {
		const fields = { filename: this.upload.fileName, ...this.dependencies.receiver.metadataOf(this.upload) };
		return Object.entries(fields)
			.map(([name, value]) => (value === '' ? name : `${name} ${base64(value)}`))
			.join(',');
	}

	async #send(request: Omit<UploadRequest, 'signal'>): Promise<UploadResponse> {
		const headers = { ...protocolHeaders, ...request.headers };
		const response = await this.dependencies.send({ ...request, headers, signal: this.signal });
		if (response.status < 200 || response.status >= 300) throw new UploadRefusal(response);
		return response;
	}
}

/** Whether an immediate retry may succeed: the chunk was damaged in transit, or the server expects another offset. */
function isRetryable(error: unknown): boolean {
	if (isFailure(error, 'alreadyExists')) return false;
	return isFailure(error, 'checksumMismatch') || isRefusedWith(error, 409);
}

function isRefusedWith(error: unknown, ...statuses: readonly number[]): boolean {
	return error instanceof UploadRefusal && statuses.includes(error.httpStatus);
}

function base64(text: string): string {
	return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function offsetOf(response: UploadResponse): number {
	const offset = Number(response.header('upload-offset') ?? Number.NaN);
	if (!Number.isSafeInteger(offset)) throw new Failure('unavailable', messages.uploadAnswerUnreadable);
	return offset;
}

/** The name of the published file. Without this header the file is not published. */
function savedNameOf(response: UploadResponse): { name: string } | undefined {
	const path = response.header('stowage-entry-path');
	const name = path?.split('/').at(-1);
	if (name === undefined) return undefined;
	try {
		return { name: decodeURIComponent(name) };
	} catch (cause) {
		throw new Failure('unavailable', messages.uploadAnswerUnreadable, { cause });
	}
}
