import { type Chosen, chosenFiles } from './chosenFiles.js';

/** Held until the browser's dialog is done with it. */
let input: HTMLInputElement | undefined;

/** Opens the browser's dialog for a folder; what lies in it comes with its structure. */
export function chooseFolder(onChoose: (chosen: Chosen) => void): void {
	input = document.createElement('input');
	input.type = 'file';
	input.webkitdirectory = true;
	input.onchange = () => onChoose(chosenFiles(input?.files ?? []));
	input.click();
}
