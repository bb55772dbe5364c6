import type { ResponseToolkit } from '@hapi/hapi';
import type { Request } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import type { Selection } from '../archives/makeManifest.js';
import { clientGone } from '../http/clientGone.js';
import { type SendOptions, sendFile } from '../responses/sendFile.js';
import type { Services } from '../services.js';

/**
 * Answers a GET or HEAD with the archive of a selection, as `sendFile` answers with a file: exact length, ranges, conditions. Throws before the first byte if
 * something chosen is not there for the viewer, and `conflict` if something was changed since it was looked at. `client` is whom limits count it for.
 */
export async function sendArchive(
	{ archives, log }: Pick<Services, 'archives' | 'log'>,
	request: Request,
	h: ResponseToolkit,
	viewer: Viewer,
	client: string,
	selection: Selection,
	options: Pick<SendOptions, 'isKept' | 'onFirstByte'> = {},
) {
	const { file, name, skipped } = await archives.open(viewer, selection, { client, signal: clientGone(request) });
	return sendFile(request, h, file, {
		name,
		isInline: false,
		log,
		headers: { 'content-type': 'application/zip', 'x-stowage-skipped': String(skipped) },
		...options,
	});
}
