import { setTimeout as wait } from 'node:timers/promises';
import type { StagedFile, StagedLock, UploadRecord } from '@stowage/plugin-api';
import { isFailure, undefinedIf, type Viewer } from '@stowage/rules';
import { finishUpload } from './finishedUpload.js';
import { ensureTargetFolder } from './receivedUpload.js';
import { findUpload, ownerOf, type UploadParts } from './UploadParts.js';
import { inUse, type Writer } from './Writer.js';

/** How long a request waits for a writer in another process, which may be dead and about to end. */
const takeoverMs = 1_500;

/** A writer without a lease shows within a second that it is alive. One that does not for this long has stopped. */
const aliveSignalMs = 2_500;

const pollMs = 100;

/** How often it is looked whether a writer in another process has ended, before its last record is answered. */
const endPolls = 20;

/**
 * Runs `work` with the current row while no other writer, in any process, works on the staged file. Throws `locked`
 * while another process brings bytes. One that has stopped in the middle keeps its lock for as long as it is stopped:
 * the durable bytes continue in another staged file, and its later writes go to a file without a name and a row that
 * is not its own.
 */
export async function withLockedUpload<T>(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	writer: Writer,
	work: (record: UploadRecord) => Promise<T>,
): Promise<T> {
	const find = () => findUpload(parts, viewer, idHash);
	for (;;) {
		const seen = await find();
		const lock = await lockOrFork(parts, viewer, idHash, writer, seen);
		if (lock === 'forked') continue;
		try {
			const record = lock === undefined ? seen : await find();
			if (record.stagedId !== seen.stagedId && record.entryPath === null) continue;
			writer.stagedId = record.stagedId ?? undefined;
			return await work(record);
		} catch (error) {
			throw isFailure(error, 'notFound') && (await isTakenOver(parts, idHash, writer)) ? inUse() : error;
		} finally {
			lock?.release();
		}
	}
}

/** Whether another process goes on with the upload, or has finished it. One that is only slow looks to others as if it had stopped. */
async function isTakenOver({ database }: UploadParts, idHash: string, { stagedId }: Writer): Promise<boolean> {
	const record = await database.uploads.find(idHash);
	return stagedId !== undefined && record !== undefined && record.stagedId !== stagedId;
}

/**
 * The row of an upload once no other process writes, or after a while. A connection that was cut, or is silent, is ended
 * by the process that has it, which records what has come by it; one that brings bytes goes on.
 */
export async function awaitOtherWriter(parts: UploadParts, viewer: Viewer, idHash: string): Promise<UploadRecord> {
	let isAsked = false;
	for (let polls = 0; polls < endPolls; polls++) {
		const { stagedId } = await findUpload(parts, viewer, idHash);
		const staged = stagedId === null ? undefined : await undefinedIf(parts.storage.stage(stagedId), 'notFound');
		if (staged === undefined) break;
		if (staged.lock === undefined) {
			await parts.writers.requestRelease(idHash);
			break;
		}
		if (!(await isWritten(staged))) break;
		// It can be asked by its lease only, which it has after half a second.
		if (!isAsked) isAsked = await parts.writers.requestRelease(idHash);
		await wait(pollMs);
	}
	// It may have been recorded between the two.
	return findUpload(parts, viewer, idHash);
}

async function isWritten(staged: StagedFile): Promise<boolean> {
	const lock = await tryLock(staged);
	if (lock === 'locked') return true;
	lock?.release();
	return false;
}

/** Locks the staged file or a fork of it. Undefined if there is nothing to lock: it was published, or the storage has no locks. */
async function lockOrFork(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	writer: Writer,
	{ stagedId }: UploadRecord,
): Promise<StagedLock | 'forked' | undefined> {
	if (stagedId === null) return undefined;
	const staged = await parts.storage.stage(stagedId);
	if (staged.lock === undefined) return undefined;
	const first = await tryLock(staged);
	if (first !== 'locked') return first;
	const { monotonic } = parts;
	const lease = await writer.lease(takeoverMs);
	const deadline = monotonic() + (lease.key.hasLapsed ? 0 : aliveSignalMs);
	for (;;) {
		const lock = await tryLock(staged);
		if (lock !== 'locked') return lock;
		if (lease.isRequested()) throw inUse();
		if (monotonic() >= deadline) return fork(parts, viewer, idHash, staged);
		await wait(pollMs);
	}
}

async function tryLock(staged: StagedFile): Promise<StagedLock | 'locked' | undefined> {
	try {
		return staged.lock && (await undefinedIf(staged.lock(), 'notFound'));
	} catch (error) {
		if (isFailure(error, 'locked')) return 'locked';
		throw error;
	}
}

/** Continues with the durable bytes in another staged file. */
async function fork(parts: UploadParts, viewer: Viewer, idHash: string, staged: StagedFile): Promise<'forked'> {
	const { uploads } = parts.database;
	const record = await findUpload(parts, viewer, idHash);
	if (record.stagedId !== staged.id) return 'forked';
	if (staged.fork === undefined) throw inUse();
	await parts.space.assertChunk(viewer, record.offset);
	const other = await staged.fork(record.offset);
	if (await uploads.restage(idHash, staged.id, other.id)) {
		// From now on the holder can't publish it either.
		await staged.discard();
		// They may have done so just before that, if they went on with all bytes in hand: then that is the upload's file,
		// and there is no second.
		const { area, name } = record;
		const owner = ownerOf(parts, viewer, record);
		const folder = await ensureTargetFolder(parts, owner, record);
		const published = await parts.files.findPublished(owner, { area, path: folder }, staged.id, name);
		if (published !== undefined) {
			await finishUpload(parts, owner, idHash, { ...record, stagedId: other.id, entryPath: published.path });
			await other.discard();
		}
		parts.log.warn('an upload was taken over from a process that has stopped');
	} else await other.discard();
	return 'forked';
}
