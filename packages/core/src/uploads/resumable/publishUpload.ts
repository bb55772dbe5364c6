import type { UploadRecord } from '@stowage/plugin-api';
import { isFailure, type StoragePath, type Viewer } from '@stowage/rules';
import { assertInPlace, finishUpload } from './finishedUpload.js';
import { ensureTargetFolder, publishReceived } from './receivedUpload.js';
import { ownerOf, payerOf, stagedOf, type UploadParts } from './UploadParts.js';

/** Publishes a complete file, or finds it published. If that fails, `onFailure` ends before its bytes are reserved no more. */
export async function publishUpload(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	record: UploadRecord,
	onFailure = async () => {},
): Promise<UploadRecord> {
	const { area, name, mtime, onConflict, length } = record;
	const staged = await stagedOf(parts, viewer, record);
	const owner = ownerOf(parts, viewer, record);
	const payer = await payerOf(parts, viewer, record);
	const publish = async (): Promise<UploadRecord> => {
		// Nothing may have been said of it for long while its last bytes arrived.
		if (record.received !== null) await parts.database.uploads.claim(idHash, parts.now());
		const request = { staged, onConflict, ...(mtime === null ? {} : { mtime }) };
		const entry = await intoFolder(
			() => ensureTargetFolder(parts, owner, record),
			(path) => {
				const publishAs = (named: string) =>
					parts.files.publishOnce(owner, { area, path }, { ...request, name: named });
				return record.received === null ? publishAs(name) : publishReceived(name, idHash, publishAs);
			},
		);
		// Also if another process recorded it meanwhile, or ended the upload: a published file stays.
		await finishUpload(parts, owner, idHash, { ...record, stagedId: staged.id, entryPath: entry.path });
		return { ...record, offset: length, stagedId: null, entryPath: entry.path };
	};
	return parts.admission.complete({ viewer: payer }, staged, record.offset, async () => {
		try {
			return await publish();
		} catch (error) {
			await onFailure();
			throw error;
		}
	});
}

/** Publishes once more where the folder was moved just before. */
async function intoFolder<T>(
	find: () => Promise<StoragePath>,
	publish: (folder: StoragePath) => Promise<T>,
): Promise<T> {
	const folder = await find();
	try {
		return await publish(folder);
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		const moved = await find();
		if (moved === folder) throw error;
		return publish(moved);
	}
}

/**
 * The row with the number of durable bytes; undefined for a file that is complete, or that a call published without
 * recording it: it is to be published. Throws `expired` for a finished one whose file is gone.
 */
export async function withDurableOffset(
	parts: UploadParts,
	viewer: Viewer,
	record: UploadRecord,
): Promise<UploadRecord | undefined> {
	if (record.entryPath !== null) {
		await assertInPlace(parts, viewer, record);
		return record;
	}
	if (record.offset === record.length) return undefined;
	try {
		const size = await (await stagedOf(parts, viewer, record)).size();
		return { ...record, offset: Math.min(record.offset, size) };
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		return undefined;
	}
}

/** The record of an upload, which is published if it is complete. */
export async function publishIfComplete(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	record: UploadRecord,
): Promise<UploadRecord> {
	return (await withDurableOffset(parts, viewer, record)) ?? (await publishUpload(parts, viewer, idHash, record));
}
