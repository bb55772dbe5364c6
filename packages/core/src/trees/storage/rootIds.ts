import type { OpenFile, StorageItem } from '@stowage/plugin-api';

/** A character that no id of a storage may contain. */
const separator = '~';

/** The id of an item or a staged file among all roots. */
export function withPrefix(id: string, idPrefix: string): string {
	return idPrefix === '' ? id : `${idPrefix}${separator}${id}`;
}

/** The id as its own root has it. */
export function withoutPrefix(id: string, idPrefix: string): string {
	return idPrefix === '' ? id : id.slice(idPrefix.length + separator.length);
}

/** The prefix of an id, empty for the first root's. */
export function prefixOf(id: string): string {
	const end = id.indexOf(separator);
	return end === -1 ? '' : id.slice(0, end);
}

/** An item of a root, with its id among all roots. */
export function prefixed(item: StorageItem, idPrefix: string): StorageItem {
	return idPrefix === '' ? item : { ...item, id: withPrefix(item.id, idPrefix) };
}

/** An open file whose ids have the prefix of its root. */
export function prefixedFile(file: OpenFile, idPrefix: string): OpenFile {
	if (idPrefix === '') return file;
	const { readInto, withLocalFile } = file;
	return {
		item: prefixed(file.item, idPrefix),
		read: (range) => file.read(range),
		...(readInto === undefined ? {} : { readInto: readInto.bind(file) }),
		...(withLocalFile === undefined ? {} : { withLocalFile: (use) => withLocalFile.call(file, use) as never }),
		isChanged: (options) => file.isChanged(options),
		close: () => file.close(),
	};
}
