// One spec file, so that one service answers all parts; each part also says what it is about in its own names.
import './list-pets.contract.js';
import './create-pet.contract.js';
import './get-pet.contract.js';
import './request-body.contract.js';
import './preference.contract.js';
import './authentication.contract.js';
import './routing.contract.js';
import './raw-socket.contract.js';
import './operational-endpoints.contract.js';
