import { Failure, type OpenFile } from '@stowage/plugin-api';
import { fileType, sniff, sniffedBytes } from '@stowage/rules';

/**
 * Throws unless a file is a container of a video by its name and its first bytes. A playlist is none: an encoder would open the files that it names, which are other people's.
 */
export async function assertVideo(name: string, file: OpenFile): Promise<void> {
	if (fileType(name) !== 'video' || (await firstBytesKind(file)) !== 'video') {
		throw new Failure('invalid', 'File is not a video');
	}
}

async function firstBytesKind(file: OpenFile) {
	const end = Math.min(file.item.size, sniffedBytes) - 1;
	const head: Uint8Array[] = [];
	if (end >= 0) for await (const chunk of file.read({ start: 0, end })) head.push(Uint8Array.from(chunk));
	return sniff(Buffer.concat(head));
}
