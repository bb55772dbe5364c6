import * as contract from '@stowage/contract';
import {
	baseName,
	Failure,
	type ItemRef,
	idempotencyKey,
	type Job,
	type JobOwner,
	type JobStarter,
	keyOfAnother,
	type PluginHost,
	parsePath,
	route,
	type Viewer,
} from '@stowage/plugin-api';
import {
	assertAllowed,
	conversionOutputName,
	convertDenial,
	convertedName,
	fileType,
	parentPath,
} from '@stowage/rules';
import type { Conversion } from './conversion.js';
import { assertVideo } from './films/probing/assertVideo.js';
import { videoEncoder } from './formats.js';
import type { HandBrake } from './HandBrake.js';

/** The calls of the page's dialog, over the jobs. */
export function handbrakeRoutes(server: PluginHost, handbrake: HandBrake, conversions: JobStarter<Conversion>) {
	return [
		route(contract.handbrakeCheck, async () => {
			const { installed } = await handbrake.find();
			return installed === undefined
				? { available: server.isOffered('handbrake') }
				: { available: true, version: installed.version };
		}),

		route(contract.handbrakeConvert, async ({ viewer, payload, request, h }) => {
			const user = signedIn(viewer);
			const { outputFormat: format, quality, deleteOriginal, customOutputName, type: area = 'private' } = payload;
			const path = parsePath(payload.filePath);
			const fileName = baseName(path);
			const outputName =
				customOutputName === undefined
					? convertedName(fileName, format, deleteOriginal)
					: conversionOutputName(customOutputName, format);
			const key = idempotencyKey(request.headers);
			const known = key === undefined ? undefined : await conversions.findByKey(user, key);
			if (known !== undefined) {
				const wish = { area, path, outputName, format, quality, deleteOriginal };
				if (known.input !== undefined && !isWished(known.input, wish)) throw keyOfAnother();
				return h.response({ conversionId: known.job.id }).code(202);
			}
			const { installed } = await handbrake.find();
			if (installed === undefined && !server.isOffered('handbrake')) throw notAvailable();
			const { owner = area === 'public' ? user.username : undefined } = payload;
			assertAllowed(convertDenial(user, { area, path, owner }));
			// Hours before it would be published beside its source.
			if (area === 'shared') await server.files.assertUpload(user, { area, path: parentPath(path) });
			const source = { area, path, ...(owner === undefined ? {} : { owner }) };
			const folder = area === 'shared' ? await sharedFolderOf(server, user, source) : {};
			const film = await assertConvertible(server, user, { ...source, ...folder });
			// A member of a folder deletes nothing for good, and who may not delete it should not learn that after hours.
			if (deleteOriginal) await server.files.assertRemovable(user, { ...source, ...folder });
			// Where another process converts, it knows its encoders.
			const encoders = await installed?.encoders();
			if (encoders !== undefined && videoEncoder(format, encoders, handbrake.options.mayUseHardware) === undefined) {
				throw new Failure('unavailable', `HandBrake on this server has no encoder for ${format} files.`);
			}
			const input: Conversion = { area, path, ...folder, source: film, outputName, format, quality, deleteOriginal };
			const { id } = await conversions.start(user, input, `Convert ${fileName} to ${format.toUpperCase()}`, { key });
			return h.response({ conversionId: id }).code(202);
		}),

		route(contract.handbrakeStatus, async ({ viewer, params }) => {
			const { job, input } = await conversions.find(signedIn(viewer), params.conversionId ?? '');
			return statusOf(job, input);
		}),

		route(contract.handbrakeCancel, async ({ viewer, params }) => {
			const user = signedIn(viewer);
			const { job } = await conversions.find(user, params.conversionId ?? '');
			await server.jobs.cancel(user, job.id);
			return { message: 'Conversion cancelled' };
		}),
	];
}

type Wish = Pick<Conversion, 'area' | 'path' | 'outputName' | 'format' | 'quality' | 'deleteOriginal'>;

function isWished(input: Conversion, wish: Wish): boolean {
	return Object.entries(wish).every(([name, value]) => input[name as keyof Wish] === value);
}

async function sharedFolderOf(server: PluginHost, user: JobOwner, ref: ItemRef): Promise<Pick<ItemRef, 'folderId'>> {
	for await (const { folderId } of server.files.stat(user, ref.area, [ref]))
		if (folderId !== undefined) return { folderId };
	return {};
}

/** The film, as it is now. */
async function assertConvertible(
	server: PluginHost,
	user: JobOwner,
	ref: ItemRef,
): Promise<NonNullable<Conversion['source']>> {
	const found = await server.files.find(user, ref);
	// A folder can't be opened, and most files show their type by their names.
	if (found.type !== 'file' || fileType(found.name) !== 'video') throw new Failure('invalid', 'File is not a video');
	const { file } = await server.files.open(user, ref);
	try {
		await assertVideo(found.name, file);
		const { id, version, size, mtime } = file.item;
		return { id, version, size, mtime };
	} finally {
		await file.close();
	}
}

function statusOf(job: Job, { path, deleteOriginal }: Conversion) {
	const { id, status, done, total, detail, error, startTime, endTime, hold } = job;
	const known = contract.conversionDetail.safeParse(detail ?? {}).data ?? {};
	const running = status === 'processing' ? known : {};
	const result = status === 'completed' ? known : {};
	return {
		conversionId: id,
		fileName: baseName(parsePath(path)),
		status,
		progress: status === 'completed' ? 100 : total === 0 ? 0 : Math.round((done / total) * 10_000) / 100,
		currentFps: running.currentFps ?? null,
		averageFps: running.averageFps ?? null,
		eta: running.eta ?? null,
		error,
		startTime,
		endTime,
		outputPath: result.outputPath ?? null,
		phase: running.phase ?? null,
		hold,
		sizeBefore: result.sizeBefore ?? null,
		sizeAfter: result.sizeAfter ?? null,
		deletesOriginal: deleteOriginal,
		isOriginalDeleted: result.isOriginalDeleted ?? null,
		keptReason: result.keptReason ?? null,
		losses: result.losses ?? [],
	};
}

function signedIn(viewer: Viewer): JobOwner {
	// The audience of the endpoints admits users only.
	if (viewer.kind !== 'user') throw new Failure('notSignedIn', 'You must be logged in to do that.');
	return viewer;
}

function notAvailable(): Failure {
	return new Failure('unavailable', 'HandBrake CLI is not available');
}
