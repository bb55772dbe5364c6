import * as contract from '@stowage/contract';
import { type Call, type ItemRef, parseInput, route, z } from '@stowage/plugin-api';
import { type Area, Failure, normalizeName } from '@stowage/rules';
import { conflictOf } from '../../files/placing/placeItem.js';
import { createKeyedMutex } from '../../limits/keyedMutex.js';
import { type Entered, enterFolder } from '../../members/enterFolder.js';
import { pathNow } from '../../members/payer.js';
import { notSharedAnyMore } from '../../members/SharedFolders.js';
import type { Services } from '../../services.js';
import type { AdmittedForm } from '../../uploads/admission/Admission.js';
import { parseFileDigest } from '../../uploads/checksum.js';
import { publishKeyed } from '../../uploads/form/publishKeyed.js';
import { discardAll, type FormFields, type ReceivedForm, receiveForm } from '../../uploads/form/receiveForm.js';
import { requestedArea } from '../../uploads/requestedArea.js';
import { announcedBytes, textHeader, uploadKeyOf } from '../../uploads/uploadHeaders.js';
import { atTurnOf } from '../changeRoutes.js';

const { schemas } = contract;

const fieldsSchema = z.object({
	directory: schemas.path.optional(),
	type: schemas.area.optional(),
	isPublic: z.enum(['true', 'false'], 'must be true or false').optional(),
	fileName: z.string().optional(),
	lastModified: z
		.array(z.string())
		.refine((times) => times.every((time) => /^-?\d{1,15}$/.test(time)), 'must be milliseconds since the epoch')
		.optional(),
	...schemas.replacing,
});

const publicFields = ['directory', 'fileName', 'lastModified', 'onConflict', 'ifMatch'];
const allFields = [...publicFields, 'type', 'isPublic'];

/** The size of the row of an upload key, with its index. */
const keyBytes = 1024;

/** Whole files by multipart form. The response is sent after the bytes are durable and published. */
export function uploadRoutes(services: Services) {
	const { config, bodies, database, databaseReserve, files, inFlightUploads, admission, sharedFolders } = services;
	const keyed = { files, idempotency: database.idempotency, exclusively: createKeyedMutex() };
	type UploadCall = Call<typeof contract.upload> | Call<typeof contract.uploadPublic>;
	type AreaOf = (fields: z.output<typeof fieldsSchema>) => Area;

	const receive = async (call: UploadCall, allowed: string[], areaOf: AreaOf) => {
		const { viewer, request } = call;
		const bytes = announcedBytes(request.raw.req);
		const mayHavePayer = async () =>
			allowed.includes('type') && viewer.kind === 'user' && (await sharedFolders.joined(viewer.id)).length > 0;
		const uploader = { viewer, address: request.client.address, mayHavePayer };
		const entries = await admission.form(uploader, bytes, (form) => publishForm(call, allowed, areaOf, form));
		return { message: entries.length === 1 ? 'File uploaded.' : `${entries.length} files uploaded.`, entries };
	};

	const publishForm = async (
		{ viewer, request }: UploadCall,
		allowed: string[],
		areaOf: AreaOf,
		{ stage, countFiles }: AdmittedForm,
	) => {
		const { headers } = request.raw.req;
		const key = uploadKeyOf(headers);
		if (key !== undefined) await databaseReserve.assertRoom(keyBytes);
		const folderOf = (fields: FormFields): ItemRef => {
			const parsed = parseFields(fields);
			return { area: areaOf(parsed), path: parsed.directory ?? schemas.path.parse('') };
		};
		const isPlaceKnown = (fields: FormFields) =>
			fields.has('directory') && (!allowed.includes('type') || fields.has('type') || fields.has('isPublic'));

		let entered: Entered | undefined;
		let leave = () => {};
		const form = await receiveForm(request.raw.req, {
			fields: allowed,
			maxFileSize: config.uploads.maxFileSize,
			digest: parseFileDigest(textHeader(headers, 'Stowage-File-Digest')),
			body: bodies.upload(request, viewer),
			stage: () => stage(entered?.viewer),
			async beforeFile(fields, name) {
				// A later field may name a part without a name; a part with an impossible name is refused before its bytes.
				if (name !== '' && !fields.has('fileName')) normalizeName(name);
				// A client that sends the destination first is refused at once.
				if (!isPlaceKnown(fields)) return;
				const folder = folderOf(fields);
				await files.assertUpload(viewer, folder);
				if (folder.area !== 'shared' || entered !== undefined) return;
				entered = await enterFolder(sharedFolders, viewer, folder, 'edit');
				leave = sharedFolders.held.hold(entered.held, () => request.raw.req.destroy(notSharedAnyMore()));
			},
		}).finally(() => leave());
		/** Where the folder is for which the files were received. */
		const folderNow = async (folder: ItemRef): Promise<ItemRef> => {
			if (folder.area !== 'shared' || entered === undefined) return folder;
			const path = await pathNow(sharedFolders, viewer, { folderId: entered.place.folder.id, path: folder.path });
			if (path === undefined) throw notSharedAnyMore();
			return { area: 'shared', path };
		};
		try {
			const requests = publishRequestsOf(form);
			await countFiles(form.files.length);
			const publish = async () => {
				const folder = await folderNow(folderOf(form.fields));
				return key === undefined
					? files.publish(viewer, folder, requests)
					: publishKeyed(keyed, viewer, folder, requests, key);
			};
			return await atTurnOf(services, viewer, request, publish, 'awaited');
		} catch (error) {
			await discardAll(form.files);
			throw error;
		}
	};

	return [
		route(contract.upload, (call) =>
			inFlightUploads.run(() => receive(call, allFields, (fields) => requestedArea(fields) ?? 'private')),
		),
		route(contract.uploadPublic, (call) => inFlightUploads.run(() => receive(call, publicFields, () => 'public'))),
	];
}

function parseFields(fields: FormFields): z.output<typeof fieldsSchema> {
	return parseInput(
		fieldsSchema,
		Object.fromEntries(
			[...fields].map(([name, values]) => {
				if (name === 'lastModified') return [name, values];
				if (values.length > 1) throw new Failure('invalid', `${name}: must be given once`);
				return [name, values[0]];
			}),
		),
	);
}

function publishRequestsOf({ fields, files }: ReceivedForm) {
	const { fileName, lastModified, ...replacing } = parseFields(fields);
	const onConflict = conflictOf(replacing);
	if (files.length === 0) throw new Failure('invalid', 'file: is missing');
	if (fileName !== undefined && files.length > 1) throw new Failure('invalid', 'fileName: is for a single file');
	if (replacing.ifMatch !== undefined && files.length > 1)
		throw new Failure('invalid', 'ifMatch: is for a single file');
	if (lastModified !== undefined && lastModified.length !== 1 && lastModified.length !== files.length) {
		throw new Failure('invalid', 'lastModified: must be given once, or once for each file');
	}
	return files.map(({ staged, name }, index) => {
		const mtime = lastModified?.[lastModified.length === 1 ? 0 : index];
		return {
			staged,
			name: normalizeName(fileName ?? name),
			onConflict,
			...(mtime === undefined ? {} : { mtime: Number(mtime) }),
		};
	});
}
