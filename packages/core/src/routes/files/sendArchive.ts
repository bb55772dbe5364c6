import type { ResponseToolkit } from '@hapi/hapi';
import type { OpenFile, Request } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import type { Selection } from '../../archives/makeManifest.js';
import type { AuditEvent } from '../../audit/auditLine.js';
import { clientGone } from '../../http/connections/clientGone.js';
import { networkKey } from '../../http/requests/proxy.js';
import { type SendOptions, sendFile } from '../../responses/sendFile.js';
import type { Services } from '../../services.js';

interface ArchiveOptions extends Pick<SendOptions, 'isKept' | 'onFirstByte'> {
	/** Counts what is sent of it. */
	counted?: (file: OpenFile) => OpenFile;
}

/**
 * Answers a GET or HEAD with the archive of a selection, as `sendFile` answers with a file: exact length, ranges, conditions. Throws
 * before the first byte if a selected item does not exist for the viewer, and `conflict` if an item was changed since its stat. Limits
 * count it for `client`, and `describe` is called with its size.
 */
export async function sendArchive(
	{ archives, log }: Pick<Services, 'archives' | 'log'>,
	request: Request,
	h: ResponseToolkit,
	viewer: Viewer,
	client: string,
	selection: Selection,
	describe: (details: Partial<AuditEvent>) => void,
	{ counted, ...options }: ArchiveOptions = {},
) {
	const requester = { client, network: networkKey(request.client.address), signal: clientGone(request) };
	const { file, name, skipped, entries } = await archives.open(viewer, selection, requester);
	describe({ entries });
	return sendFile(request, h, counted === undefined ? file : counted(file), {
		name,
		isInline: false,
		log,
		headers: { 'content-type': 'application/zip', 'x-stowage-skipped': String(skipped) },
		...options,
	});
}
