import { Button, Checkbox, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { type Entry, formatListSize, shownName } from '@stowage/rules';
import { type MouseEvent, useEffect, useRef, useState } from 'react';
import { useTrashKeepFor, useVersionsKeepFor } from '../../../api/capabilities.js';
import { dialogMilliseconds, useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import { isFocusLost } from '../../../ui/keyboard/keptFocus.js';
import { folderName } from '../location/folderTitle.js';
import type { Resolution } from '../operations/taken.js';
import type { Question } from '../operations/useQuestions.js';
import { keptFor } from '../trash/keptFor.js';
import { versionTime } from '../versions/versionTime.js';
import styles from './AlreadyThereDialog.module.css';
import { dialogMessages as messages } from './messages.js';

export interface AlreadyThereDialogProps {
	/** The dialog is open while it is set. */
	question: Question | undefined;
	onAnswer: (resolution: Resolution, isForAll: boolean) => void;
	/** Called if nothing is to be pasted or moved. */
	onCancel: () => void;
	/** Called once it has faded out, and the focus is back where it was if that still exists. */
	onClosed: () => void;
}

/** Asks about an item whose name is taken. Its buttons act at once; then it asks about the next one. */
export function AlreadyThereDialog({ question, onAnswer, onCancel, onClosed }: AlreadyThereDialogProps) {
	const shown = useLast(question);
	const openings = useOpenings(question !== undefined);
	return (
		<Dialog
			key={openings}
			className={styles.dialog}
			isOpen={question !== undefined}
			title={messages.alreadyThere}
			isCloseButtonShown={false}
			canOutsideClickClose={false}
			transitionDuration={dialogMilliseconds}
			onClose={onCancel}
			onClosed={onClosed}
		>
			{shown && <Body question={shown} onAnswer={onAnswer} onCancel={onCancel} />}
		</Dialog>
	);
}

type BodyProps = Omit<AlreadyThereDialogProps, 'onClosed'> & { question: Question };

function Body({ question: { taken, area, folder, left }, onAnswer, onCancel }: BodyProps) {
	const { step, existing, mayReplace } = taken;
	const keepFor = useVersionsKeepFor();
	const isInTrash = useTrashKeepFor() > 0 && area === 'shared';
	const [isForAll, setForAll] = useState(false);
	const keepBoth = useRef<HTMLButtonElement>(null);
	useEffect(() => {
		// The button that had the focus is gone: what is asked about now can't be replaced.
		if (!mayReplace && isFocusLost()) keepBoth.current?.focus();
	}, [mayReplace]);
	/** The second click of a double click would answer what is asked next, by the same button. */
	const once = (act: () => void) => (event: MouseEvent) => event.detail < 2 && act();
	const choose = (resolution: Resolution) => once(() => onAnswer(resolution, isForAll));
	return (
		<>
			<DialogBody>
				<p className={styles.question} role="status">
					{shownName(messages.isAlreadyThere(existing.name, folderName(area, folder)))}
				</p>
				<dl className={styles.items}>
					<dt>{messages.there}</dt>
					<dd>{describe(existing)}</dd>
					<dt>{messages.new}</dt>
					<dd>{describe(step.item)}</dd>
				</dl>
				<p className={styles.note}>
					{!mayReplace
						? messages.foldersStay
						: keepFor > 0
							? messages.replacedKept(keptFor(keepFor))
							: isInTrash
								? messages.replacedInTrash
								: messages.replacedGone}
				</p>
				{left > 1 && (
					<div className={styles.all}>
						<Checkbox
							className={styles.box}
							label={messages.doThisForAll}
							checked={isForAll}
							onChange={(event) => setForAll(event.currentTarget.checked)}
						/>
						<span className={styles.more}>{messages.moreTaken(left - 1)}</span>
					</div>
				)}
			</DialogBody>
			<DialogFooter
				className={styles.footer}
				actions={
					<>
						<Button className={styles.cancel} text={messages.cancel} onClick={once(onCancel)} />
						<Button text={messages.keepBoth} ref={keepBoth} intent="primary" autoFocus onClick={choose('rename')} />
						{mayReplace && <Button text={messages.replace} onClick={choose('replace')} />}
						<Button text={messages.skip} onClick={choose('skip')} />
					</>
				}
			/>
		</>
	);
}

/** What tells two items of one name apart. */
function describe({ type, size, mtime }: Pick<Entry, 'type'> & Partial<Pick<Entry, 'size' | 'mtime'>>): string {
	const what = type === 'directory' ? messages.folder : size === undefined ? messages.file : formatListSize(size);
	return mtime === undefined ? what : `${what}, ${versionTime(mtime)}`;
}
