/** JSON that was written where its values lie, to be handed on as it is. */
export class JsonText {
  constructor(readonly text: string) {}
}
