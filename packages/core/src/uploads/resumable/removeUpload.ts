import type { UploadRecord } from '@stowage/plugin-api';
import { isFailure, undefinedIf, type Viewer } from '@stowage/rules';
import { findOwnUpload, payerOf, type UploadParts, unknownUpload } from './UploadParts.js';

/** Ends an upload; a file that is in its place stays there. */
export async function removeUpload(parts: UploadParts, viewer: Viewer, idHash: string): Promise<void> {
	await findOwnUpload(parts, viewer, idHash);
	await parts.writers.end(idHash);
	await discardUpload(parts, viewer, idHash, await findOwnUpload(parts, viewer, idHash));
}

/** Ends an unfinished upload of anybody, for the administrator. Its client gets 404. Throws `notFound`. */
export async function removeAnyUpload(parts: UploadParts, idHash: string): Promise<void> {
	const findStaged = async () => {
		const record = await parts.database.uploads.find(idHash);
		if (record === undefined || record.stagedId === null) throw unknownUpload();
		return record.stagedId;
	};
	await findStaged();
	await parts.writers.end(idHash);
	const stagedId = await findStaged();
	try {
		await dropUpload(parts, idHash, stagedId);
	} catch (error) {
		if (!isFailure(error, 'unavailable')) throw error;
		// Its disk is away, perhaps for good: what lies there without a row is swept once it is back.
		await dropUpload(parts, idHash, null);
	}
}

/** Removes what an upload has, while no other call works on it. */
export async function discardUpload(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	record: UploadRecord,
): Promise<void> {
	// Unless it counts for its sender, who may not go on with it.
	const payer = (await undefinedIf(payerOf(parts, viewer, record), 'notFound', 'forbidden')) ?? viewer;
	// Of several calls at once one gives back what it counted for.
	if (await dropUpload(parts, idHash, record.stagedId)) await parts.admission.onDropped({ viewer: payer }, record);
}

/** Resolves to whether it was this call that removed it. */
async function dropUpload(
	{ storage, database, expiry }: UploadParts,
	idHash: string,
	stagedId: string | null,
): Promise<boolean> {
	if (stagedId !== null) await (await storage.stage(stagedId)).discard();
	const isRemoved = await database.uploads.remove(idHash);
	expiry.forget(idHash);
	return isRemoved;
}
