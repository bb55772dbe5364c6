import { type Area, baseName, rootPath, type StoragePath } from '@stowage/rules';
import { useEffect } from 'react';
import { messages } from '../../../messages.js';

/** The name of the folder on screen; the root has the name of its area. */
export function folderName(area: Area, directory: StoragePath): string {
	if (directory !== rootPath) return baseName(directory);
	return area === 'private' ? messages.privateFiles : messages.publicFiles;
}

/** Sets the title of the window and of the entry in the browser's history. */
export function useTitle(title: string): void {
	useEffect(() => {
		document.title = `${title} – ${messages.productName}`;
		return () => {
			document.title = messages.productName;
		};
	}, [title]);
}
