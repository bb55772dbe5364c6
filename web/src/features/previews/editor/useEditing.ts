import {
	type Area,
	type Entry,
	isFailure,
	isValidName,
	itemOf,
	previewLimits,
	replaceDenial,
	trimName,
	type Viewer,
} from '@stowage/rules';
import { useState } from 'react';
import { HttpFailure, readCurrent } from '../../../api/previews.js';
import { messages as pageMessages } from '../../../messages.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import type { Encoding } from '../text/encodings.js';
import { editorMessages as messages } from './messages.js';
import type { Edited } from './saving/saveText.js';

/** Whether the viewer may change what a file of the listing contains. */
export function mayEdit(viewer: Viewer, area: Area, entry: Entry): boolean {
	// A name that another program has given it may be one that can't be saved to.
	const isNamed = isValidName(entry.name) && trimName(entry.name) === entry.name;
	return isNamed && !entry.unreadable && replaceDenial(viewer, itemOf(area, entry)) === undefined;
}

/** Opens a file for editing, as it is now. */
export function useEditing(name: string, url: string, detect: (bytes: Uint8Array) => Promise<Encoding>) {
	const [edited, setEdited] = useState<Edited>();
	const [isOpening, setOpening] = useState(false);
	const { notify } = useNotify();

	async function open(chosen: Encoding | undefined): Promise<void> {
		setOpening(true);
		const message = messages.cannotOpen(name);
		try {
			const [version, textBytes] = await Promise.all([
				readCurrent(url, previewLimits.text),
				import('./bytes/textBytes.js'),
				// So that it is there when it is shown.
				import('./TextEditor.js'),
			]);
			const encoding = chosen ?? (await detect(version.bytes));
			const read = textBytes.readText(version.bytes, encoding);
			const refuse = (detail: string) => notify({ intent: 'danger', message, detail, hidesAfter: 10_000 });
			if (!read) refuse(messages.wouldLose(encoding));
			else if (!textBytes.canBeShown(read)) refuse(messages.lineTooLong);
			else setEdited({ version, read });
		} catch (failure) {
			const error = failure instanceof HttpFailure ? failure.explained : failure;
			const detail = isFailure(error) ? error.message : pageMessages.moduleFailedReason;
			notify({ intent: 'danger', message, detail });
		} finally {
			setOpening(false);
		}
	}

	return { edited, isOpening, open, close: () => setEdited(undefined) };
}
