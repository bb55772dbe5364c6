import { Button, Dialog, DialogBody, DialogFooter } from '@blueprintjs/core';
import { messages } from '../../../messages.js';
import { dialogMilliseconds, useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';

export interface RemoveDialogProps {
	title: string;
	/** The dialog is open while it is set. */
	question: string | undefined;
	onRemove: () => void;
	onClose: () => void;
	/** Called once it has faded out, and the focus is back where it was if that still exists. */
	onClosed: () => void;
}

/** Asks before files are removed from the queue. */
export function RemoveDialog({ title, question, onRemove, onClose, onClosed }: RemoveDialogProps) {
	const shown = useLast(question);
	const openings = useOpenings(question !== undefined);
	return (
		<Dialog
			key={openings}
			isOpen={question !== undefined}
			title={title}
			isCloseButtonShown={false}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
			onClosed={onClosed}
		>
			<DialogBody>
				<p style={{ overflowWrap: 'anywhere' }}>{shown}</p>
			</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button text={messages.cancel} onClick={onClose} />
						<Button autoFocus intent="danger" text={messages.remove} onClick={onRemove} />
					</>
				}
			/>
		</Dialog>
	);
}
