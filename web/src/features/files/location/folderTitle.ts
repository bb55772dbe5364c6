import { type Area, baseName, rootPath, type StoragePath, shownName } from '@stowage/rules';
import { useEffect } from 'react';
import { messages } from '../../../messages.js';

const areaNames: Readonly<Record<Area, string>> = {
	private: messages.privateFiles,
	public: messages.publicFiles,
	shared: messages.sharedWithMe,
};

/** The name of the folder on screen; the root has the name of its area. */
export function folderName(area: Area, directory: StoragePath): string {
	if (directory !== rootPath) return shownName(baseName(directory));
	return areaNames[area];
}

/** Sets the title of the window and of the entry in the browser's history. */
export function useTitle(title: string): void {
	useEffect(() => {
		document.title = `${shownName(title)} – ${messages.productName}`;
		return () => {
			document.title = messages.productName;
		};
	}, [title]);
}
