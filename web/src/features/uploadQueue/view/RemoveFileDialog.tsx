import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { shownName } from '@stowage/rules';
import { messages } from '../../../messages.js';
import { dialogMilliseconds, useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import { fullName, type QueueItem } from '../queueItem.js';

export interface RemoveFileDialogProps {
	/** The file to remove; the dialog is open while it is set. */
	item: QueueItem | undefined;
	onRemove: (item: QueueItem) => void;
	onClose: () => void;
	/** Called once it has faded out, and the focus is back where it was if that still exists. */
	onClosed: () => void;
}

export function RemoveFileDialog({ item, onRemove, onClose, onClosed }: RemoveFileDialogProps) {
	const shown = useLast(item);
	const openings = useOpenings(item !== undefined);
	return (
		<Dialog
			key={openings}
			isOpen={item !== undefined}
			title={messages.removeFile}
			isCloseButtonShown={false}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
			onClosed={onClosed}
		>
			<DialogBody>
				<p style={{ overflowWrap: 'anywhere' }}>{shown && messages.removeQuestion(shownName(fullName(shown)))}</p>
			</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button text={messages.cancel} onClick={onClose} />
						<Button autoFocus intent="danger" text={messages.remove} onClick={() => item && onRemove(item)} />
					</>
				}
			/>
		</Dialog>
	);
}
