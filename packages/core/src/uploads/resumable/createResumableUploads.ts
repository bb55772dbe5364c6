import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '@stowage/database';
import type { Files, Request, StagedFile, UploadRecord } from '@stowage/plugin-api';
import { assertAllowed, Failure, isFailure, uploadDenial, type Viewer } from '@stowage/rules';
import type { Bodies } from '../../bodies/createBodies.js';
import type { Config } from '../../config/schema.js';
import { visitorOf } from '../../config/strangers.js';
import type { Leases } from '../../leases/createLeases.js';
import { metered } from '../../limits/metered.js';
import type { Log } from '../../log.js';
import type { Quotas } from '../../quotas/createQuotas.js';
import { meterOf } from '../../quotas/Reservation.js';
import { secretHash } from '../../secretHash.js';
import type { MountedStorage } from '../../trees/MountedStorage.js';
import { type Checksum, parseChecksum } from '../checksum.js';
import type { UploadLimits } from '../limits/uploadLimits.js';
import type { UploadSpace } from '../limits/uploadSpace.js';
import {
	announcedBytes,
	assertAnnounced,
	assertChunkType,
	byteCount,
	hasBody,
	textHeader,
	uploadKeyOf,
} from '../uploadHeaders.js';
import { beginUpload } from './beginUpload.js';
import { withLockedUpload } from './lockStaged.js';
import { receiveChunk } from './receiveChunk.js';
import { sweepUploads } from './sweepUploads.js';
import { UploadExpiry } from './UploadExpiry.js';
import { inUse, type Writer, Writers } from './Writers.js';

/** An upload as its client may know it. */
export interface Upload extends UploadRecord {
	/** 256 random bits. */
	id: string;
}

/** An upload as the administrator may know it: its id stays its client's. */
export interface UnfinishedUpload extends UploadRecord {
	idHash: string;
	/** The storage root that its bytes lie on; undefined if that was removed. */
	root: string | undefined;
}

/** Uploads over several requests, controlled by their headers. Errors are thrown as Failures. */
export interface ResumableUploads {
	/** Begins an upload, with its first bytes if the request has some. */
	create(viewer: Viewer, request: Request): Promise<Upload>;
	/** The offset of an upload. A complete one that is not published yet is published. */
	inspect(viewer: Viewer, id: string, request: Request): Promise<Upload>;
	/** Receives the request's body as the next chunk. The last one publishes the file. */
	write(viewer: Viewer, id: string, request: Request): Promise<Upload>;
	/** Ends an upload; a file that is in its place stays there. */
	remove(viewer: Viewer, id: string): Promise<void>;
	/** The unfinished uploads of everybody, the most recently written first. */
	listUnfinished(): Promise<UnfinishedUpload[]>;
	/** Ends an unfinished upload of anybody as `remove` does, for the administrator. Its client gets 404. Throws `notFound`. */
	removeAny(idHash: string): Promise<void>;
	/** Removes expired uploads. */
	sweep(): Promise<void>;
}

interface Dependencies {
	config: Config;
	bodies: Pick<Bodies, 'upload'>;
	database: Database;
	files: Files;
	storage: MountedStorage;
	log: Log;
	space: UploadSpace;
	limits: UploadLimits;
	quotas: Quotas;
	leases: Leases;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

export function createResumableUploads({
	config,
	bodies,
	database,
	files,
	storage,
	log,
	space,
	limits,
	quotas,
	leases,
	now,
	monotonic,
}: Dependencies): ResumableUploads {
	const { uploads } = database;
	const writers = new Writers({ leases, uploads, log, monotonic });

	const expiry = new UploadExpiry({ expireAfter: config.uploads.expireAfter, now, monotonic });

	/** The record, for its owner. */
	async function find(viewer: Viewer, idHash: string): Promise<UploadRecord> {
		const record = await uploads.find(idHash);
		if (record === undefined) throw unknown();
		if (record.userId !== null) {
			if (viewer.kind === 'anonymous') throw new Failure('notSignedIn', 'Please sign in to continue this upload.');
			if (viewer.id !== record.userId) throw unknown();
		} else assertAllowed(uploadDenial(ownerOf(viewer, record), { area: record.area, path: record.directory }));
		if (expiry.hasExpired(idHash, record)) throw new Failure('expired', 'This upload has expired.');
		return record;
	}

	/** The client whose quota and limits an upload counts for. */
	function ownerOf(viewer: Viewer, record: UploadRecord): Viewer {
		return record.userId === null ? visitorOf(config) : viewer;
	}

	function stagedOf(viewer: Viewer, record: UploadRecord): Promise<StagedFile> {
		if (record.stagedId === null) throw unknown();
		return files.stage(viewer, record.stagedId);
	}

	/** Publishes a complete file, or finds it published. */
	async function publish(viewer: Viewer, idHash: string, record: UploadRecord): Promise<UploadRecord> {
		const { area, directory, name, mtime, length } = record;
		const staged = await stagedOf(viewer, record);
		const owner = ownerOf(viewer, record);
		// Its bytes were reserved when they arrived.
		const reserved = await quotas.of(owner).reserve({ stagedId: staged.id, bytes: record.offset });
		try {
			const arrival = { staged, name, ...(mtime === null ? {} : { mtime }) };
			const entry = await files.publishOnce(owner, { area, path: directory }, arrival);
			// Also if another process recorded it meanwhile, or ended the upload: a published file stays.
			await uploads.finish(idHash, staged.id, entry.path);
			return { ...record, offset: length, stagedId: null, entryPath: entry.path };
		} finally {
			reserved.release();
		}
	}

	/** The number of durable bytes; undefined for a file that is complete, or that a call published without recording it: it is to be published. */
	async function heldSoFar(viewer: Viewer, record: UploadRecord): Promise<UploadRecord | undefined> {
		if (record.entryPath !== null) return record;
		if (record.offset === record.length) return undefined;
		try {
			const size = await (await stagedOf(viewer, record)).size();
			return { ...record, offset: Math.min(record.offset, size) };
		} catch (error) {
			if (!isFailure(error, 'notFound')) throw error;
			return undefined;
		}
	}

	/** The same, published if it is complete. */
	async function held(viewer: Viewer, idHash: string, record: UploadRecord): Promise<UploadRecord> {
		return (await heldSoFar(viewer, record)) ?? (await publish(viewer, idHash, record));
	}

	/** Runs `work` while no other request, here or in another process, works on the staged file. */
	function locked<T>(
		viewer: Viewer,
		idHash: string,
		writer: Writer,
		work: (record: UploadRecord) => Promise<T>,
	): Promise<T> {
		const parts = {
			find: () => find(viewer, idHash),
			stage: (id: string) => storage.stage(id),
			assertSpace: (bytes: number) => space.assertChunk(viewer, bytes),
			async findPublished(record: UploadRecord, stagedId: string) {
				const { area, directory, name } = record;
				const owner = ownerOf(viewer, record);
				return (await files.findPublished(owner, { area, path: directory }, stagedId, name))?.path;
			},
			...{ uploads, writer, log, monotonic },
		};
		return withLockedUpload(idHash, parts, work);
	}

	/** The number of durable bytes, also while another process writes, which releases the upload if its connection is dead. */
	async function currentState(viewer: Viewer, idHash: string, writer: Writer): Promise<UploadRecord> {
		const known = await heldSoFar(viewer, await find(viewer, idHash));
		if (known === undefined) return locked(viewer, idHash, writer, (whole) => held(viewer, idHash, whole));
		if (known.entryPath === null) await writers.requestRelease(idHash);
		return known;
	}

	/** Records the offset once the bytes before it would survive a power cut. */
	async function keep(idHash: string, record: UploadRecord, staged: StagedFile, size: number): Promise<UploadRecord> {
		await staged.sync();
		const progress = { offset: size, ...expiry.touch(idHash) };
		if (!(await uploads.saveProgress(idHash, record.stagedId ?? '', progress))) throw inUse();
		return { ...record, ...progress };
	}

	async function receive(
		viewer: Viewer,
		idHash: string,
		record: UploadRecord,
		request: Request,
		writer: Writer,
		checksum: Checksum | undefined,
	): Promise<UploadRecord> {
		const unmetered = await stagedOf(viewer, record);
		const uploader = { viewer: ownerOf(viewer, record), address: request.client.address };
		const reserved = await quotas.of(uploader.viewer).reserve({ stagedId: unmetered.id, bytes: record.offset });
		const staged = metered(unmetered, [
			space.claim(uploader, record.length - record.offset),
			limits.arriving(uploader.viewer, uploader.address),
			meterOf(reserved),
		]);
		let size: number;
		try {
			size = await receiveChunk(staged, bodies.upload(request.raw.req), {
				offset: record.offset,
				most: record.length - record.offset,
				checksum,
				assertRoom: () => reserved.assertRoom({ bytes: announcedBytes(request.raw.req), entries: 0 }),
				onBytes: () => writer.onBytes(),
				keep: (arrived) => keep(idHash, record, staged, arrived),
				log,
			});
		} finally {
			reserved.release('held');
		}
		if (size < record.length) return keep(idHash, record, staged, size);
		try {
			return await publish(viewer, idHash, { ...record, offset: size, ...expiry.touch(idHash) });
		} catch (error) {
			await keep(idHash, record, staged, size).catch((cause) =>
				log.warn({ err: cause }, 'the progress of a complete upload could not be saved'),
			);
			throw error;
		}
	}

	async function drop(idHash: string, stagedId: string | null): Promise<void> {
		if (stagedId !== null) await (await storage.stage(stagedId)).discard();
		await uploads.remove(idHash);
		expiry.forget(idHash);
	}

	async function discard(viewer: Viewer, idHash: string, record: UploadRecord): Promise<void> {
		await drop(idHash, record.stagedId);
		quotas.of(ownerOf(viewer, record)).onUploadDropped();
	}

	/** The same for a failed upload: a staged file that can't be removed now expires. */
	async function abandon(viewer: Viewer, idHash: string, record: UploadRecord): Promise<void> {
		await discard(viewer, idHash, record).catch((error) =>
			log.warn({ err: error }, 'a failed upload could not be removed'),
		);
	}

	const resumable: ResumableUploads = {
		async create(viewer, request) {
			const { req } = request.raw;
			const checksum = parseChecksum(textHeader(req.headers, 'Upload-Checksum'));
			const bringsBytes = req.headers['transfer-encoding'] !== undefined || announcedBytes(req) > 0;
			if (bringsBytes) assertChunkType(req);
			const key = uploadKeyOf(req.headers);
			const id = key === undefined ? randomBytes(32).toString('base64url') : idOfKey(viewer, key);
			const idHash = secretHash(id);
			// A repeated request, since the response was lost: the client continues from the offset of the first attempt.
			if (key !== undefined && (await uploads.find(idHash)) !== undefined)
				return resumable.inspect(viewer, id, request);
			return writers.runExclusively(idHash, req, async (writer) => {
				const begun = async () => ({ ...(await currentState(viewer, idHash, writer)), id });
				// Another attempt with this key may have been faster.
				if (key !== undefined && (await uploads.find(idHash)) !== undefined) return begun();
				let record: UploadRecord;
				try {
					record = await beginUpload(
						{ config, uploads, files, space, limits, quotas, expiry },
						viewer,
						idHash,
						request,
					);
				} catch (error) {
					// In another process.
					if (key !== undefined && isFailure(error, 'alreadyExists')) return begun();
					throw error;
				}
				if (!bringsBytes && record.length > 0) return { ...record, id };
				try {
					inviteBody(request);
					const receiveAll = (own: UploadRecord) => receive(viewer, idHash, own, request, writer, checksum);
					return { ...(await locked(viewer, idHash, writer, receiveAll)), id };
				} catch (error) {
					// Without a key no client can ever find it again.
					if (key === undefined) await abandon(viewer, idHash, record);
					throw error;
				}
			});
		},

		async inspect(viewer, id, request) {
			const idHash = secretHash(id);
			await find(viewer, idHash);
			await writers.awaitTakeover(idHash);
			if (writers.isBusy(idHash)) return { ...(await find(viewer, idHash)), id };
			const record = await writers.runExclusively(idHash, request.raw.req, (writer) =>
				currentState(viewer, idHash, writer),
			);
			return { ...record, id };
		},

		async write(viewer, id, request) {
			const { req } = request.raw;
			if (hasBody(req)) assertChunkType(req);
			const offset = byteCount(req.headers, 'Upload-Offset');
			const checksum = parseChecksum(textHeader(req.headers, 'Upload-Checksum'));
			const idHash = secretHash(id);
			// Checked before the release is requested: a client without permission must not cause it.
			await find(viewer, idHash);
			return writers.runExclusively(idHash, req, (writer) =>
				locked(viewer, idHash, writer, async (found) => {
					const record = await held(viewer, idHash, found);
					if (offset !== record.offset) {
						throw new Failure('conflict', `The upload holds ${record.offset} bytes so far.`);
					}
					assertAnnounced(req, record.length - offset);
					if (record.entryPath !== null) return { ...record, id };
					await space.assertChunk(viewer, announcedBytes(req));
					inviteBody(request);
					return { ...(await receive(viewer, idHash, record, request, writer, checksum)), id };
				}),
			);
		},

		async remove(viewer, id) {
			const idHash = secretHash(id);
			await find(viewer, idHash);
			await writers.end(idHash);
			await discard(viewer, idHash, await find(viewer, idHash));
		},

		async listUnfinished() {
			const found = await uploads.listAllUnfinished();
			return found.map((each) => ({ ...each, root: storage.rootOfStaged(each.stagedId ?? '') }));
		},

		async removeAny(idHash) {
			const find = async () => {
				const record = await uploads.find(idHash);
				if (record === undefined || record.stagedId === null) throw unknown();
				return record.stagedId;
			};
			await find();
			await writers.end(idHash);
			const stagedId = await find();
			try {
				await drop(idHash, stagedId);
			} catch (error) {
				if (!isFailure(error, 'unavailable')) throw error;
				// Its disk is away, perhaps for good: what lies there without a row is swept once it is back.
				await drop(idHash, null);
			}
		},

		sweep: () => sweepUploads({ config, database, storage, writers, expiry, log, now }),
	};
	return resumable;
}

/** `Expect: 100-continue` waits for this: all headers are valid. */
function inviteBody({ raw }: Request): void {
	if (/100-continue/i.test(raw.req.headers.expect ?? '')) raw.res.writeContinue();
}

/** The same for every attempt with this key, and different for all other clients. */
function idOfKey(viewer: Viewer, key: string): string {
	const who = viewer.kind === 'user' ? viewer.id : '';
	return createHash('sha256').update(`upload ${who} ${key}`).digest('base64url');
}

function unknown(): Failure {
	return new Failure('notFound', 'That upload is not known.');
}
