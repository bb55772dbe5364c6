import { Button } from '@blueprintjs/core';
import { EyeOffIcon, EyeOpenIcon } from '@blueprintjs/icons';
import { useState } from 'react';
import { messages } from '../../messages.js';
import { type FieldProps, TextField, type TextFieldProps } from './TextField.js';

/** A password, with a button that shows what is typed. */
export function PasswordField(props: FieldProps & Pick<TextFieldProps, 'hint' | 'hasFocusFirst'>) {
	const [isShown, setShown] = useState(false);
	return (
		<TextField
			{...props}
			type={isShown ? 'text' : 'password'}
			rightElement={
				<Button
					variant="minimal"
					icon={isShown ? <EyeOffIcon /> : <EyeOpenIcon />}
					aria-label={messages.reveal}
					aria-pressed={isShown}
					title={messages.reveal}
					onClick={() => setShown(!isShown)}
				/>
			}
		/>
	);
}
