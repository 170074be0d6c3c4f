// One spec file, so that all parts share one service.
import './list-pets.contract.js';
import './create-pet.contract.js';
import './get-pet.contract.js';
import './request-body.contract.js';
import './preference.contract.js';
import './authentication.contract.js';
import './routing.contract.js';
import './raw-socket.contract.js';
import './operational-endpoints.contract.js';
