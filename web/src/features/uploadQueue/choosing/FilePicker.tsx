import type { Ref } from 'react';
import { type Chosen, chosenFiles } from './chosenFiles.js';

export interface FilePickerProps {
	/** Its `click()` opens the browser's dialog. */
	ref: Ref<HTMLInputElement>;
	onChoose: (chosen: Chosen) => void;
}

/** A hidden input for files. */
export function FilePicker({ ref, onChoose }: FilePickerProps) {
	return (
		<input
			ref={ref}
			type="file"
			multiple
			hidden
			onChange={(event) => {
				onChoose(chosenFiles(event.currentTarget.files ?? []));
				// So that choosing the same file again is a change too.
				event.currentTarget.value = '';
			}}
		/>
	);
}
