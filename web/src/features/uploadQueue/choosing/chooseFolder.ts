import { type Chosen, chosenFiles } from './chosenFiles.js';

/** Referenced until the browser's dialog closes, or it could be garbage-collected before. */
let input: HTMLInputElement | undefined;

/** Opens the browser's dialog for a folder. The chosen files keep their paths in it. */
export function chooseFolder(onChoose: (chosen: Chosen) => void): void {
	input = document.createElement('input');
	input.type = 'file';
	input.webkitdirectory = true;
	input.onchange = () => onChoose(chosenFiles(input?.files ?? []));
	input.click();
}
