import type { UploadRecord } from '@stowage/plugin-api';
import { isFailure, type Viewer } from '@stowage/rules';
import { finishUpload, folderOf, publishReceived } from './receivedUpload.js';
import { ownerOf, payerOf, stagedOf, type UploadParts } from './UploadParts.js';

/** Publishes a complete file, or finds it published. */
export async function publishUpload(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	record: UploadRecord,
): Promise<UploadRecord> {
	const { area, name, mtime, onConflict, length } = record;
	const staged = await stagedOf(parts, viewer, record);
	const owner = ownerOf(parts, viewer, record);
	const payer = await payerOf(parts, viewer, record);
	return parts.admission.complete({ viewer: payer }, staged, record.offset, async () => {
		// Nothing may have been said of it for long while its last bytes arrived.
		if (record.received !== null) await parts.database.uploads.claim(idHash, parts.now());
		const request = { staged, onConflict, ...(mtime === null ? {} : { mtime }) };
		const folder = await folderOf(parts, owner, record);
		const publish = (named: string) =>
			parts.files.publishOnce(owner, { area, path: folder }, { ...request, name: named });
		const entry = await (record.received === null ? publish(name) : publishReceived(name, idHash, publish));
		// Also if another process recorded it meanwhile, or ended the upload: a published file stays.
		await finishUpload(parts, owner, idHash, staged.id, entry.path);
		return { ...record, offset: length, stagedId: null, entryPath: entry.path };
	});
}

/** The row with the number of durable bytes; undefined for a file that is complete, or that a call published without recording it: it is to be published. */
export async function withDurableOffset(
	parts: UploadParts,
	viewer: Viewer,
	record: UploadRecord,
): Promise<UploadRecord | undefined> {
	if (record.entryPath !== null) return record;
	if (record.offset === record.length) return undefined;
	try {
		const size = await (await stagedOf(parts, viewer, record)).size();
		return { ...record, offset: Math.min(record.offset, size) };
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		return undefined;
	}
}

/** The same, published if it is complete. */
export async function publishIfComplete(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	record: UploadRecord,
): Promise<UploadRecord> {
	return (await withDurableOffset(parts, viewer, record)) ?? (await publishUpload(parts, viewer, idHash, record));
}
