import type { Files, Request, UploadRecord, UploadStore } from '@stowage/plugin-api';
import { type Area, Failure, isStranger, joinPath, normalizeName, type StoragePath, type Viewer } from '@stowage/rules';
import { hasSessionCookie } from '../../accounts/ownCookies.js';
import type { Config } from '../../config/schema.js';
import { limitAddress } from '../../http/requests/proxy.js';
import { enterFolder } from '../../members/enterFolder.js';
import type { SharedFolders } from '../../members/SharedFolders.js';
import type { Admission } from '../admission/Admission.js';
import { assertAnnounced, byteCount, textHeader } from '../uploadHeaders.js';
import type { UploadExpiry } from './UploadExpiry.js';
import { type Receiver, receivingOf, type UploadParts } from './UploadParts.js';
import { parseUploadMetadata, type UploadMetadata } from './uploadMetadata.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	receiver: UploadParts['receiver'];
	sharedFolders: SharedFolders;
	uploads: Pick<UploadStore, 'add'>;
	files: Pick<Files, 'assertUpload' | 'stage'>;
	admission: Admission;
	databaseReserve: UploadParts['databaseReserve'];
	expiry: UploadExpiry;
}

/** The size of a row with its indexes, besides what is said of the upload: once as it was said, and once as it was understood. */
const rowBytes = 1024;

type UploadTarget = 'received' | 'name' | 'directory' | 'area' | 'mtime' | 'onConflict';
type NewUpload = Pick<UploadRecord, UploadTarget | 'payerId' | 'folderId' | 'metadata' | 'length' | 'address'>;

/** Begins an upload as described by the headers of its first request. Throws all refusals before the first byte is read. */
export async function beginUpload(
	parts: Dependencies,
	viewer: Viewer,
	idHash: string,
	request: Request,
): Promise<UploadRecord> {
	const { config, files, admission } = parts;
	const { client, raw } = request;
	const metadata = textHeader(raw.req.headers, 'Upload-Metadata') ?? '';
	if (textHeader(raw.req.headers, 'Upload-Defer-Length') !== undefined) {
		throw new Failure('invalid', 'Upload-Defer-Length: is not offered; say the length at the start');
	}
	if (textHeader(raw.req.headers, 'Upload-Concat') !== undefined) {
		throw new Failure('invalid', 'Upload-Concat: is not offered; send the file as one upload');
	}
	const maxMetadata = config.uploads.anonymousMetadataSize;
	if (isStranger(viewer) && maxMetadata > 0 && Buffer.byteLength(metadata) > maxMetadata) {
		throw new Failure('headersTooLarge', `Upload-Metadata: may have ${maxMetadata} bytes`);
	}
	const length = byteCount(raw.req.headers, 'Upload-Length');
	const wish = parseUploadMetadata(metadata);
	const { name, mtime, onConflict } = wish;
	admission.assertFileSize(length);
	assertAnnounced(raw.req, length);
	const receiving = receivingOf(viewer);
	const received = receiving ?? null;
	const receiver = receiving && (await parts.receiver(receiving.share));
	const directory = receiver === undefined ? wish.directory : senderFolder(receiver, wish);
	const area = receiver === undefined ? (wish.area ?? defaultArea(viewer, request)) : 'private';
	// That of a sender is made once a file is in it.
	await files.assertUpload(viewer, { area, path: receiver?.folder ?? directory }, { name, onConflict });
	const { address } = client;
	const shared =
		area === 'shared' ? await enterFolder(parts.sharedFolders, viewer, { path: directory }, 'edit') : undefined;
	const payer = shared?.viewer ?? viewer;
	const kept = shared && { payerId: shared.viewer.id, folderId: shared.place.folder.id };
	await parts.databaseReserve.assertRoom(rowBytes + 2 * Buffer.byteLength(metadata));
	const upload = { name, directory, area, mtime, onConflict, metadata, length, address, received, ...kept };
	return admission.unfinished({ sender: viewer, viewer: payer, address }, length, (maxRows) =>
		add(parts, { viewer, payer }, idHash, upload, maxRows),
	);
}

async function add(
	{ uploads, files, expiry }: Dependencies,
	{ viewer, payer }: { viewer: Viewer; payer: Viewer },
	idHash: string,
	upload: NewUpload,
	maxRows?: number,
): Promise<UploadRecord> {
	const staged = await files.stage(payer);
	const touched = expiry.touch(idHash);
	const record: UploadRecord = {
		stagedId: staged.id,
		userId: viewer.kind === 'user' ? viewer.id : null,
		...upload,
		address: limitAddress(upload.address),
		offset: 0,
		entryPath: null,
		itemId: null,
		startedAt: touched.touchedAt,
		...touched,
	};
	try {
		await uploads.add(idHash, record, maxRows);
	} catch (error) {
		await staged.discard();
		throw error;
	}
	return record;
}

/**
 * Where the files of a sender go, in the folder of a share. Throws `invalid` without a name where one is asked for,
 * and for more than a guest may wish.
 */
function senderFolder({ asksName }: Receiver, { directory, onConflict, sender }: UploadMetadata): StoragePath {
	if (directory !== '') throw new Failure('invalid', 'Upload-Metadata: directory: a share has one folder');
	if (onConflict.kind !== 'rename')
		throw new Failure('invalid', 'Upload-Metadata: onConflict: a share replaces nothing');
	if (!asksName) return directory;
	if (sender.trim() === '') throw new Failure('invalid', 'Please enter your name');
	return joinPath(directory, normalizeName(sender));
}

/** A user whose session has expired must not publish a file as a visitor without noticing. */
function defaultArea(viewer: Viewer, request: Request): Area {
	return viewer.kind === 'user' || hasSessionCookie(request) ? 'private' : 'public';
}
