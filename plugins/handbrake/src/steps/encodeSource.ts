import { baseName, Failure, type ItemRef, type JobContext, type StagedFile, withLocalFile } from '@stowage/plugin-api';
import { assertChosen, folderItem, folderOf } from '../chosenFilm.js';
import type { Conversion, EncodedStep } from '../conversion.js';
import { encode } from '../encode.js';
import { assertFilm, assertVideo } from '../films/probing/assertVideo.js';
import type { Film } from '../films/probing/Film.js';
import type { ConvertDependencies } from './ConvertDependencies.js';

/** Encodes the film into a staged file, which is checked and durable then. */
export async function encodeSource(
	job: JobContext<Conversion>,
	source: ItemRef,
	staged: StagedFile,
	{ files, handbrake, log, temporaryFolder, timeLimitMs }: ConvertDependencies,
): Promise<EncodedStep> {
	const { viewer } = job;
	const found = await handbrake.find();
	if (found.installed === undefined) throw new Failure('unavailable', found.reason);
	const { installed } = found;
	const folder = await folderItem(viewer, source, files);
	const { file } = await files.open(viewer, source);
	try {
		assertChosen(file.item, job.input);
		const container = await assertVideo(baseName(source.path), file);
		const local = {
			folder: temporaryFolder,
			signal: job.signal,
			purpose: 'conversion',
			maxCopyBytes: Number.MAX_SAFE_INTEGER,
		};
		const losses = await withLocalFile(file, local, async ({ descriptor }) => {
			const film = await assertFilm(installed.ffprobe, descriptor, container, job.signal);
			await job.expect(expectedSeconds(film));
			return files.withDescriptor(viewer, { staged, folder: folderOf(source) }, (target) =>
				encode({
					job,
					installed,
					log,
					timeLimitMs,
					source: descriptor,
					sourceBytes: file.item.size,
					film,
					target,
					isSourceChanged: () => file.isChanged(),
				}),
			);
		});
		await staged.sync();
		const { id, version, size } = file.item;
		return {
			step: 'encoded',
			staged: staged.id,
			source: { id, version },
			path: source.path,
			...(folder === undefined ? {} : { folderItemId: folder.id }),
			sizeBefore: size,
			sizeAfter: await staged.size(),
			losses,
		};
	} finally {
		await file.close();
	}
}

/** Pixels that a small machine encodes in a second. */
const slowestEncoding = 10_000_000;

function expectedSeconds({ seconds, video: [track] }: Film): number {
	// Unknown ones are taken for a long film in HD.
	const { size, rate } = { size: track?.size || 1920 * 1080, rate: track?.rate || 25 };
	return ((seconds || 7200) * rate * size) / slowestEncoding;
}
